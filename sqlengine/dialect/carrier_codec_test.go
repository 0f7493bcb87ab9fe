package dialect

import (
	"reflect"
	"strings"
	"testing"
)

func TestCarrierRoundTrip(t *testing.T) {
	for _, c := range []Carrier{
		{}, {Version: "3"}, {Timestamp: "2026-01-01 00:00:00"}, {AsOf: "tag"},
		{Options: map[string]string{"scan.snapshot-id": "3", "a'b\\": "\x01\"é"}},
		{Options: map[string]string{"k": "v"}, Version: "watermark-5"},
	} {
		got, ok, err := DecodeCarrier(c.Encode())
		if !ok || err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%+v came back as %+v, %v, %v", c, got, ok, err)
		}
		if c.IsZero() != reflect.DeepEqual(c, Carrier{}) {
			t.Errorf("IsZero of %+v", c)
		}
	}
}

func TestDecodeCarrierRefuses(t *testing.T) {
	if _, ok, err := DecodeCarrier("tag1"); ok || err != nil {
		t.Errorf("a plain tag: %v, %v", ok, err)
	}
	for _, s := range []string{"\x01", "\x01{", "\x01[]", `` + "\x01" + `{"version":"1","asof":"2"}`, "\x01" + strings.Repeat(" ", maxCarrierBytes+1)} {
		if _, ok, err := DecodeCarrier(s); !ok || err == nil {
			t.Errorf("%.20q: %v, %v", s, ok, err)
		}
	}
}

func FuzzDecodeCarrier(f *testing.F) {
	f.Add("\x01{\"options\":{\"a\":\"b\"},\"version\":\"3\"}")
	f.Add("tag")
	f.Fuzz(func(t *testing.T, s string) {
		c, ok, err := DecodeCarrier(s)
		if !ok || err != nil {
			return
		}
		again, ok, err := DecodeCarrier(c.Encode())
		if !ok || err != nil || len(again.Options) != len(c.Options) || again.Version != c.Version ||
			again.Timestamp != c.Timestamp || again.AsOf != c.AsOf {
			t.Fatalf("%q: %+v, then %+v, %v", s, c, again, err)
		}
	})
}
