package generate

import (
	"math/bits"
	"strings"
)

// The bounds of TPC-H's lineitem. Dates are days since 1970-01-01.
const (
	firstOrderDate = 8035 // 1992-01-01
	orderDays      = 2406 // order dates end 1998-08-02
	currentDate    = 9298 // 1995-06-17
	maxLines       = 7    // lines of an order
	orderGroup     = 8    // order keys come in groups of 8 out of 32 numbers
	orderSpread    = 32   //
	minComment     = 10   // bytes
	maxComment     = 43   // bytes
	rowsPerScale   = 6e6  // rows of scale factor 1
	partsPerScale  = 2e5  //
	suppsPerScale  = 1e4  //
	poolBytes      = 8 << 20
)

var (
	instructs = []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}
	modes     = []string{"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"}
	words     = strings.Fields(`foxes ideas theodolites pinto beans instructions dependencies excuses platelets asymptotes
		courts dolphins multipliers sauternes warthogs frets dinos attainments somas patterns forges braids frays warhorses
		dugouts notornis epitaphs pearls tithes waters orbits gifts sheaves depths sentiments decoys realms pains grouches
		escapades hockey players sleep wake are cajole haggle nag use boost affix detect integrate maintain nod was lose sublate
		solve thrash promise engage hinder print doze run dazzle snooze doubt unwind kindle play hang believe thrive special
		pending unusual express furious sly careful blithe quick fluffy slow quiet ruthless thin close dogged daring brave
		stealthy permanent enticing idle busy regular final ironic even bold silent requests accounts packages deposits
		sometimes always never furiously slyly carefully blithely quickly fluffily slowly quietly about above according to
		across after against along among around at before behind beneath beside between beyond by despite during except for
		from in place of inside instead into near off on outside over past since through throughout toward under until up upon
		without with within the . , ; ?`)
)

// Line is a row. Decimals are in hundredths, dates in days since 1970-01-01.
type Line struct {
	OrderKey, PartKey, SuppKey             int64
	LineNumber                             int32
	Quantity, ExtendedPrice, Discount, Tax int64
	ReturnFlag, LineStatus                 string
	ShipDate, CommitDate, ReceiptDate      int32
	ShipInstruct, ShipMode, Comment        string
}

// source makes rows. Every row follows from its key, its version and the seed
// alone, so rows can be made in any order and on any number of cores.
type source struct {
	seed         uint64
	rows         int64
	parts, supps int64
	pool         string
}

func newSource(rows int64, seed uint64) *source {
	scale := float64(rows) / rowsPerScale
	s := &source{seed: seed, rows: rows, parts: max(int64(scale*partsPerScale), 200), supps: max(int64(scale*suppsPerScale), 10)}
	var text strings.Builder
	r := random(mix(seed, 1))
	for text.Len() < poolBytes {
		text.WriteString(words[r.below(len(words))])
		text.WriteByte(' ')
	}
	s.pool = text.String()
	return s
}

// random is SplitMix64.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number in [0, n).
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// mix hashes numbers to a seed.
func mix(numbers ...uint64) uint64 {
	r := random(0)
	for _, n := range numbers {
		r = random(r.next() ^ n)
	}
	return r.next()
}

// orderKey is the key of the n-th order.
func orderKey(n int64) int64 { return n/orderGroup*orderSpread + n%orderGroup + 1 }

// each calls fn with the keys of rows [from, to) in key order.
func (s *source) each(from, to int64, fn func(order int64, line int32) error) error {
	var row int64
	for n := int64(0); row < to; n++ {
		key := orderKey(n)
		lines := int64(mix(s.seed, 2, uint64(key))%maxLines) + 1
		for i := max(from-row, 0); i < lines && row+i < to; i++ {
			if err := fn(key, int32(i)+1); err != nil {
				return err
			}
		}
		row += lines
	}
	return nil
}

// updated reports whether delta d (1, 2, …) holds a new version of the row.
func (s *source) updated(order int64, line int32, d int) bool {
	return mix(s.seed, 3, uint64(order), uint64(line), uint64(d))%updateOneIn == 0
}

// line makes a version of a row; version 0 is the first.
func (s *source) line(l *Line, order int64, line int32, version int) {
	r := random(mix(s.seed, 4, uint64(order), uint64(line), uint64(version)))
	ordered := int32(firstOrderDate + mix(s.seed, 5, uint64(order))%orderDays)
	part := int64(r.below(int(s.parts))) + 1
	l.OrderKey, l.LineNumber, l.PartKey = order, line, part
	l.SuppKey = (part+int64(r.below(4))*(s.supps/4+(part-1)/s.supps))%s.supps + 1
	quantity := int64(r.below(50)) + 1
	l.Quantity = quantity * 100
	l.ExtendedPrice = quantity * (90000 + part/10%20001 + part%1000*100)
	l.Discount, l.Tax = int64(r.below(11)), int64(r.below(9))
	l.ShipDate = ordered + int32(r.below(121)) + 1
	l.CommitDate = ordered + int32(r.below(61)) + 30
	l.ReceiptDate = l.ShipDate + int32(r.below(30)) + 1
	l.ReturnFlag, l.LineStatus = "N", "F"
	if l.ReceiptDate <= currentDate {
		l.ReturnFlag = "AR"[r.below(2):][:1]
	}
	if l.ShipDate > currentDate {
		l.LineStatus = "O"
	}
	l.ShipInstruct, l.ShipMode = instructs[r.below(len(instructs))], modes[r.below(len(modes))]
	n := minComment + r.below(maxComment-minComment+1)
	at := r.below(len(s.pool) - maxComment)
	l.Comment = s.pool[at : at+n]
}
