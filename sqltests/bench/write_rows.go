package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// writeColumns are the ten columns of the write part, in Tributary's dialect.
const writeColumns = "id BIGINT NOT NULL, quantity INT, store SMALLINT, ratio DOUBLE, amount DECIMAL(15, 2), sold_on DATE, sold_at DATETIME(3), city STRING, note STRING, paid BOOLEAN"

// The distributions of the columns.
const (
	writeSeed   = 0x5eed
	stores      = 1000
	quantities  = 1_000_000
	ratioSteps  = 1 << 24 // of 1/64: sums of doubles stay exact
	maxCents    = 1_000_000_000
	firstSale   = 16436 // 2015-01-01, days since 1970-01-01
	saleDays    = 3652
	cities      = 200
	minNote     = 10 // bytes
	maxNote     = 43
	nullNotes   = 64 // one in so many is NULL
	keyMultiple = 2_654_435_761
)

// saleWords make the texts.
var saleWords = strings.Fields("amber basket cedar delta ember fjord glacier harbour iris juniper kettle lantern meadow nectar orchard pepper quartz river saffron timber umber velvet willow yarrow zephyr")

// random is SplitMix64.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *random) below(n int64) int64 { return int64(r.next() % uint64(n)) }

// writeTotals are what every table with the rows must answer to totalsQuery.
type writeTotals struct {
	rows, id, quantity, store, ratio, amount int64 // ratio in 1/64, amount in cents
	firstDay, lastDay                        int64
	firstMilli, lastMilli                    int64
	cityBytes, notes, noteBytes, paid        int64
}

// totalsQuery asks for them.
const totalsQuery = "SELECT COUNT(*), SUM(id), SUM(quantity), SUM(store), SUM(ratio), SUM(amount), SUM(LENGTH(city)), COUNT(note), SUM(LENGTH(note)), SUM(paid)," +
	" MIN(sold_on), MAX(sold_on), MIN(sold_at), MAX(sold_at) FROM "

// ratioColumn is the answer's column that is a DOUBLE.
const ratioColumn = 4

// check compares an answer to totalsQuery.
func (t *writeTotals) check(got [][]string) error {
	if len(got) != 1 {
		return fmt.Errorf("%d rows instead of 1", len(got))
	}
	numbers := []*big.Rat{big.NewRat(t.rows, 1), big.NewRat(t.id, 1), big.NewRat(t.quantity, 1), big.NewRat(t.store, 1), big.NewRat(t.ratio, 64), big.NewRat(t.amount, 100),
		big.NewRat(t.cityBytes, 1), big.NewRat(t.notes, 1), big.NewRat(t.noteBytes, 1), big.NewRat(t.paid, 1)}
	texts := []string{dayText(t.firstDay), dayText(t.lastDay), milliText(t.firstMilli), milliText(t.lastMilli)}
	row := got[0]
	if len(row) != len(numbers)+len(texts) {
		return fmt.Errorf("%d columns instead of %d", len(row), len(numbers)+len(texts))
	}
	for i, want := range numbers {
		v, ok := new(big.Rat).SetString(row[i])
		if ok && i == ratioColumn { // exact as a double, whose shortest text need not be
			got, _ := v.Float64()
			v.SetFloat64(got)
		}
		if !ok || v.Cmp(want) != 0 {
			return fmt.Errorf("column %d: %s instead of %s", i+1, row[i], want.FloatString(6))
		}
	}
	for i, want := range texts {
		if c := len(numbers) + i; row[c] != want {
			return fmt.Errorf("column %d: %s instead of %s", c+1, row[c], want)
		}
	}
	return nil
}

func dayText(days int64) string { return time.Unix(days*86_400, 0).UTC().Format("2006-01-02") }

func milliText(milli int64) string {
	return time.UnixMilli(milli).UTC().Format("2006-01-02 15:04:05.000")
}

// saleMaker makes the rows as CSV, each from its number alone.
type saleMaker struct {
	rows   int64
	cities []string
	totals writeTotals
}

func newSaleMaker(rows int64) *saleMaker {
	m := &saleMaker{rows: rows}
	for i := range cities {
		m.cities = append(m.cities, fmt.Sprintf("%s %s", saleWords[i%len(saleWords)], saleWords[i/len(saleWords)]))
	}
	return m
}

// appendRow appends row i as a line and counts it. Keys come in an order like random.
func (m *saleMaker) appendRow(p []byte, i int64) []byte {
	t := &m.totals
	r := random(writeSeed + uint64(i)*0x632be59bd9b4e019)
	id := int64(uint64(i) * keyMultiple % uint64(m.rows))
	quantity, store, ratio, cents := r.below(quantities), r.below(stores), r.below(ratioSteps), r.below(maxCents)
	day := firstSale + r.below(saleDays)
	milli := (firstSale+r.below(saleDays))*86_400_000 + r.below(86_400_000)
	city := m.cities[r.below(cities)]
	if t.rows == 0 {
		t.firstDay, t.lastDay, t.firstMilli, t.lastMilli = day, day, milli, milli
	}
	t.rows++
	t.id, t.quantity, t.store, t.ratio, t.amount = t.id+id, t.quantity+quantity, t.store+store, t.ratio+ratio, t.amount+cents
	t.firstDay, t.lastDay, t.firstMilli, t.lastMilli = min(t.firstDay, day), max(t.lastDay, day), min(t.firstMilli, milli), max(t.lastMilli, milli)
	t.cityBytes += int64(len(city))
	p = append(strconv.AppendInt(p, id, 10), ',')
	p = append(strconv.AppendInt(p, quantity, 10), ',')
	p = append(strconv.AppendInt(p, store, 10), ',')
	p = append(strconv.AppendFloat(p, float64(ratio)/64, 'f', -1, 64), ',')
	p = append(strconv.AppendInt(p, cents/100, 10), '.', byte('0'+cents%100/10), byte('0'+cents%10), ',')
	p = append(time.Unix(day*86_400, 0).UTC().AppendFormat(p, "2006-01-02"), ',')
	p = append(time.UnixMilli(milli).UTC().AppendFormat(p, "2006-01-02 15:04:05.000"), ',')
	p = append(append(p, city...), ',')
	if r.below(nullNotes) == 0 {
		p = append(p, `\N`...)
	} else {
		from, want := len(p), int(minNote+r.below(maxNote-minNote+1))
		for len(p)-from < want {
			p = append(append(p, saleWords[r.below(int64(len(saleWords)))]...), ' ')
		}
		p = p[:from+want]
		t.notes++
		t.noteBytes += int64(want)
	}
	paid := r.below(2)
	t.paid += paid
	return append(p, ',', byte('0'+paid), '\n')
}

// makeSales writes the rows to a CSV file, unless it is there, and returns what they sum up to.
func makeSales(ctx context.Context, path string, rows int64) (*writeTotals, error) {
	m := newSaleMaker(rows)
	_, err := os.Stat(path)
	there := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	var line []byte
	count := func(take func([]byte) error) error {
		for i := range rows {
			if i%65_536 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			line = m.appendRow(line[:0], i)
			if err := take(line); err != nil {
				return err
			}
		}
		return nil
	}
	if there {
		return &m.totals, count(func([]byte) error { return nil })
	}
	f, err := os.Create(path + ".new")
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = count(func(p []byte) error { _, err := w.Write(p); return err })
	if err = errors.Join(err, w.Flush(), f.Close()); err != nil {
		return nil, err
	}
	return &m.totals, os.Rename(path+".new", path)
}
