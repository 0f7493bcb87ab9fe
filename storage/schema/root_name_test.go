package schema

import "testing"

func TestBrief(t *testing.T) {
	for _, x := range []struct {
		typ  Type
		want string
	}{
		{Type{Root: Decimal, Precision: 10, Scale: 2}, "DECIMAL(10, 2)"},
		{Type{Root: TimestampLTZ, Precision: 6}, "TIMESTAMP WITH LOCAL TIME ZONE(6)"},
		{Type{Root: Varchar, Length: 5}, "VARCHAR"},
		{Type{Root: 200}, "type 200"},
	} {
		if got := x.typ.Brief(); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}
