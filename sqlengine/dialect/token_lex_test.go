package dialect

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

var kindNames = map[Kind]string{
	KindWord: "w", KindQuoted: "q", KindString: "s", KindNString: "ns", KindNumber: "n", KindHex: "hex", KindBit: "bit",
	KindParam: "p", KindUserVar: "uv", KindSysVar: "sv", KindOp: "op", KindComment: "c", KindHint: "hint",
	KindCondOpen: "co", KindCondClose: "cc", KindInvalid: "bad",
}

func lexed(src string, mode Mode) string {
	var out []string
	for _, t := range Lex(src, mode) {
		out = append(out, kindNames[t.Kind]+":"+src[t.Start:t.End])
	}
	return strings.Join(out, " ")
}

func TestLex(t *testing.T) {
	ansi, noBackslash := Mode{AnsiQuotes: true}, Mode{NoBackslashEscapes: true}
	for _, c := range []struct {
		mode      Mode
		src, want string
	}{
		{Mode{}, "SELECT a1,T$x", "w:SELECT w:a1 op:, w:T$x"},
		{Mode{}, `'a''b' 'c\'d' "e""f" 'g\\'`, `s:'a''b' s:'c\'d' s:"e""f" s:'g\\'`},
		{noBackslash, `'a\' 'b'`, `s:'a\' s:'b'`},
		{ansi, `"a""b" 'c'`, `q:"a""b" s:'c'`},
		{Mode{}, "`a``b$`.`c`", "q:`a``b$` op:. q:`c`"},
		{Mode{}, "N'x' n'y' nx X'4d' x'4' b'01' b'2' 0x4F 0b10 0xg 0b2", "ns:N'x' ns:n'y' w:nx hex:X'4d' bad:x'4' bit:b'01' bad:b'2' hex:0x4F bit:0b10 w:0xg w:0b2"},
		{Mode{}, "1 1.5 .5 1. 1e3 1.5e-3 1e 1abc 2e5x", "n:1 n:1.5 n:.5 n:1. n:1e3 n:1.5e-3 w:1e w:1abc w:2e5x"},
		{Mode{}, "t.1 t.1a t .5 `t`.2", "w:t op:. w:1 w:t op:. w:1a w:t n:.5 q:`t` op:. w:2"},
		{Mode{}, "@a @`b c` @'d' @@e @@session.f @@`g` @a.b u@h", "uv:@a uv:@`b c` uv:@'d' sv:@@e sv:@@session.f sv:@@`g` uv:@a.b w:u uv:@h"},
		{Mode{}, "a-- b\nc # d\n/* e */f--g", "w:a c:-- b\n w:c c:# d\n c:/* e */ w:f op:- op:- w:g"},
		{Mode{}, "a /*+ H() */ b", "w:a hint:/*+ H() */ w:b"},
		{Mode{}, "/*!40101 SET x */ y", "co:/*!40101 w:SET w:x cc:*/ w:y"},
		{Mode{}, "/*!SET x*/", "co:/*! w:SET w:x cc:*/"},
		{Mode{}, "/*!99999 a /* b */ c */ d", "c:/*!99999 a /* b */ c */ w:d"},
		{Mode{}, "/*!100100 a */ b /*M! c */", "c:/*!100100 a */ w:b c:/*M! c */"},
		{Mode{}, "/*!50001 a /* b */ c */ d", "co:/*!50001 w:a c:/* b */ w:c cc:*/ w:d"},
		{Mode{}, "/*!50001 '*/' */ d", "co:/*!50001 s:'*/' cc:*/ w:d"},
		{Mode{}, "a=>b<=>c:=d->>'e'->'f'||g&&h<<1>>2<=3>=4<>5!=6", "w:a op:=> w:b op:<=> w:c op::= w:d op:->> s:'e' op:-> s:'f' op:|| w:g op:&& w:h op:<< n:1 op:>> n:2 op:<= n:3 op:>= n:4 op:<> n:5 op:!= n:6"},
		{Mode{}, "? ?;", "p:? p:? op:;"},
		{Mode{}, "'open", "bad:'open"},
		{Mode{}, "/* open", "bad:/* open"},
		{Mode{}, "/*!50001 open", "bad:/*!50001 open"},
		{Mode{}, "a \\N", `w:a bad:\ w:N`},
		{Mode{}, "größe 名", "w:größe w:名"},
		{Mode{}, "_utf8mb4'x' _utf8 x", "w:_utf8mb4 s:'x' w:_utf8 w:x"},
	} {
		if got := lexed(c.src, c.mode); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

func TestUnquote(t *testing.T) {
	for src, want := range map[string]string{
		`'a''b'`: "a'b", `'a\'b'`: "a'b", `'\n\t\r\0\b\Z\\'`: "\n\t\r\x00\b\x1a\\", `'a\%b\_c'`: `a\%b\_c`, `'\q'`: "q",
		`"a""b'c"`: `a"b'c`, "`a``b\\`": "a`b\\", `N'x'`: "x", `''`: "",
	} {
		tok := Lex(src, Mode{})
		if len(tok) != 1 {
			t.Fatalf("%s: %d tokens", src, len(tok))
		}
		if got := unquote(tok[0], src, Mode{}); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
	for _, s := range []string{"", "a'b\\c\x00\"d", "é\n", `\%`} {
		q := quoteString(s)
		if got := unquote(Lex(q, Mode{})[0], q, Mode{}); got != s {
			t.Errorf("%q came back as %q", s, got)
		}
	}
}

func TestModeOf(t *testing.T) {
	if m := ModeOf("STRICT_TRANS_TABLES, ansi_quotes"); m != (Mode{AnsiQuotes: true}) {
		t.Errorf("%+v", m)
	}
	if m := ModeOf("ANSI"); !m.AnsiQuotes || !m.PipesAsConcat || !m.OnlyFullGroupBy || m.NoBackslashEscapes {
		t.Errorf("%+v", m)
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []string
	}{
		{"SELECT 1", []string{"SELECT 1"}},
		{" SELECT 1 ; ;\n SELECT ';' ; -- x;y\n", []string{"SELECT 1", "SELECT ';'"}},
		{"SELECT `a;b`; SELECT \"c;d\" /* ; */", []string{"SELECT `a;b`", "SELECT \"c;d\" /* ; */"}},
		{"/* only */", []string{"/* only */"}},
		{"", nil},
		{";;", nil},
		{"/*!40101 SET a=1 */; SELECT 2", []string{"/*!40101 SET a=1 */", "SELECT 2"}},
		{"CREATE PROCEDURE p() BEGIN SELECT 1; IF a THEN SELECT 2; END IF; SELECT CASE x WHEN 1 THEN 2 END; END; SELECT 3",
			[]string{"CREATE PROCEDURE p() BEGIN SELECT 1; IF a THEN SELECT 2; END IF; SELECT CASE x WHEN 1 THEN 2 END; END", "SELECT 3"}},
		{"CREATE DEFINER='a'@'b' PROCEDURE p() SELECT 1; SELECT 2", []string{"CREATE DEFINER='a'@'b' PROCEDURE p() SELECT 1", "SELECT 2"}},
		{"BEGIN; SELECT 1; COMMIT", []string{"BEGIN", "SELECT 1", "COMMIT"}},
		{"CREATE TABLE event (begin INT); SELECT 1", []string{"CREATE TABLE event (begin INT)", "SELECT 1"}},
	} {
		var got []string
		for _, p := range Split(c.src, Mode{}) {
			if c.src[p.Start:p.End] != p.Text {
				t.Errorf("%q: piece %q is not at %d..%d", c.src, p.Text, p.Start, p.End)
			}
			got = append(got, p.Text)
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%q:\n got %q\nwant %q", c.src, got, c.want)
		}
	}
}

func FuzzLex(f *testing.F) {
	for _, s := range []string{"SELECT 'a\\'b', `c`, \"d\" FROM T$x -- e\n;", "/*!40101 a */ /*+ OPTIONS('a'='b') */ 0x1F x'4' @a @@b", "'open", "1.e5 .5 t.1 1a", "\\N\x00\xff"} {
		f.Add(s, false, false)
		f.Add(s, true, true)
	}
	f.Fuzz(func(t *testing.T, src string, ansi, noBackslash bool) {
		mode := Mode{AnsiQuotes: ansi, NoBackslashEscapes: noBackslash}
		end := 0
		for _, tok := range Lex(src, mode) {
			if tok.Start < end || tok.End <= tok.Start || tok.End > len(src) {
				t.Fatalf("token %+v behind %d of %d bytes", tok, end, len(src))
			}
			for i := end; i < tok.Start; i++ {
				if !isSpace(src[i]) {
					t.Fatalf("byte %d belongs to no token", i)
				}
			}
			end = tok.End
			switch tok.Kind {
			case KindString, KindNString, KindQuoted:
				// Names with bad characters are the catalog's business.
				_ = utf8.ValidString(unquote(tok, src, mode))
			}
		}
		last := 0
		for _, p := range Split(src, mode) {
			if p.Start < last || p.End > len(src) || src[p.Start:p.End] != p.Text {
				t.Fatalf("piece %+v", p)
			}
			last = p.End
		}
	})
}
