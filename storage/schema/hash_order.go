package schema

import (
	"slices"
	"unicode/utf16"
)

// hashMap keeps keys in the order of a java.util.HashMap (OpenJDK 17) that got the same calls: Paimon writes options in it. Buckets are
// lists in the order of insertion; trees, which they become with more than eight keys, do not change that order.
type hashMap struct {
	buckets [][]string
	size    int
}

// defaultCapacity is the number of buckets of new HashMap().
const defaultCapacity = 16

func newHashMap(capacity int) *hashMap { return &hashMap{buckets: make([][]string, capacity)} }

// copyHashMap is new HashMap(other), or putAll into an empty one.
func copyHashMap(keys []string) *hashMap {
	capacity := 1
	for capacity < int(float32(len(keys))/0.75+1) {
		capacity *= 2
	}
	m := newHashMap(capacity)
	for _, k := range keys {
		m.put(k)
	}
	return m
}

func (m *hashMap) slot(key string) int {
	var h uint32
	for _, c := range utf16.Encode([]rune(key)) {
		h = 31*h + uint32(c)
	}
	return int((h ^ h>>16) & uint32(len(m.buckets)-1))
}

// put adds a key that may be there.
func (m *hashMap) put(key string) {
	i := m.slot(key)
	if slices.Contains(m.buckets[i], key) {
		return
	}
	m.buckets[i] = append(m.buckets[i], key)
	if m.size++; m.size*4 > len(m.buckets)*3 {
		keys := m.keys()
		m.buckets = make([][]string, 2*len(m.buckets))
		for _, k := range keys {
			i := m.slot(k)
			m.buckets[i] = append(m.buckets[i], k)
		}
	}
}

// remove takes a key out that may not be there; the capacity stays.
func (m *hashMap) remove(key string) {
	i := m.slot(key)
	if at := slices.Index(m.buckets[i], key); at >= 0 {
		m.buckets[i] = slices.Delete(m.buckets[i], at, at+1)
		m.size--
	}
}

// keys lists the keys in the order of iteration.
func (m *hashMap) keys() []string {
	var out []string
	for _, b := range m.buckets {
		out = append(out, b...)
	}
	return out
}

// HashOrder returns keys in the order in which a java.util.HashMap iterates
// that got them in the order given: Paimon shows options so.
func HashOrder(keys []string) []string {
	m := newHashMap(defaultCapacity)
	for _, k := range keys {
		m.put(k)
	}
	return m.keys()
}
