package generate

import "math/big"

// Q1 is a group of TPC-H's query 1 in exact numbers: hundredths, and for prices
// times percents 10^-4 and 10^-6.
type Q1 struct {
	Quantity, Price, Discount, DiscountedPrice, Rows int64
	Charge                                           *big.Int
}

// Expected are the answers that a table must give.
type Expected struct {
	Rows int64
	// Q6 is the revenue of query 6 in 10^-4.
	Q6 int64
	// Q1 has the groups of query 1 by l_returnflag and l_linestatus.
	Q1 map[string]*Q1
}

// The constants of queries 1 and 6.
const (
	q1Until                 = 10471      // 1998-09-02
	q6From, q6To            = 8766, 9131 // 1994-01-01, 1995-01-01
	q6LowDiscount, q6High   = 5, 7
	q6Quantity              = 2400
	hundred                 = 100
	chargeFlush             = 1 << 20 // products of 10^-6 that surely fit an int64 together
	groups, flags, statuses = 6, "ARN", "FO"
)

// tally counts the answers of one table on one goroutine.
type tally struct {
	rows, q6 int64
	groups   [groups]Q1
	charge   [groups]int64
	pending  int
}

func (t *tally) add(l *Line) {
	t.rows++
	if l.ShipDate >= q6From && l.ShipDate < q6To && l.Discount >= q6LowDiscount && l.Discount <= q6High && l.Quantity < q6Quantity {
		t.q6 += l.ExtendedPrice * l.Discount
	}
	if l.ShipDate > q1Until {
		return
	}
	i := 0
	switch l.ReturnFlag {
	case "R":
		i = 2
	case "N":
		i = 4
	}
	if l.LineStatus == "O" {
		i++
	}
	g := &t.groups[i]
	discounted := l.ExtendedPrice * (hundred - l.Discount)
	g.Rows++
	g.Quantity += l.Quantity
	g.Price += l.ExtendedPrice
	g.Discount += l.Discount
	g.DiscountedPrice += discounted
	t.charge[i] += discounted * (hundred + l.Tax)
	if t.pending++; t.pending == chargeFlush {
		t.flush()
	}
}

func (t *tally) flush() {
	t.pending = 0
	for i := range t.groups {
		if t.groups[i].Charge == nil {
			t.groups[i].Charge = new(big.Int)
		}
		t.groups[i].Charge.Add(t.groups[i].Charge, big.NewInt(t.charge[i]))
		t.charge[i] = 0
	}
}

// total adds up tallies.
func total(tallies []*tally) *Expected {
	e := &Expected{Q1: map[string]*Q1{}}
	for _, t := range tallies {
		t.flush()
		e.Rows += t.rows
		e.Q6 += t.q6
		for i := range t.groups {
			g := &t.groups[i]
			if g.Rows == 0 {
				continue
			}
			name := flags[i/2:][:1] + statuses[i%2:][:1]
			sum := e.Q1[name]
			if sum == nil {
				sum = &Q1{Charge: new(big.Int)}
				e.Q1[name] = sum
			}
			sum.Rows += g.Rows
			sum.Quantity += g.Quantity
			sum.Price += g.Price
			sum.Discount += g.Discount
			sum.DiscountedPrice += g.DiscountedPrice
			sum.Charge.Add(sum.Charge, g.Charge)
		}
	}
	return e
}
