package fileindex

import "github.com/tributarydb/tributary/storage/errs"

// AppendContainer makes a container of indexes (FileIndexFormat); those of one column follow each other.
func AppendContainer(dst []byte, indexes []Index) ([]byte, error) {
	const fixed = 8 + 4 + 4 + 4 // magic, version, length of the head, columns
	type entry struct{ at, start int }
	var head []byte
	var entries []entry
	columns, size := 0, 0
	for i := 0; i < len(indexes); {
		j := i + 1
		for j < len(indexes) && indexes[j].Column == indexes[i].Column {
			j++
		}
		columns++
		ok := true
		if head, ok = appendUTF(head, indexes[i].Column); !ok {
			return nil, errs.Unsupportedf("column '%.40s…' cannot have a file index: its name has more than %d bytes", indexes[i].Column, maxUTF)
		}
		head = appendInt(head, j-i)
		for ; i < j; i++ {
			ix := &indexes[i]
			if head, ok = appendUTF(head, ix.Type); !ok {
				return nil, errs.Invalidf("the type of a file index of column '%s' is too long", ix.Column)
			}
			if ix.Empty {
				head = appendInt(appendInt(head, emptyStart), 0)
				continue
			}
			entries = append(entries, entry{len(head), size})
			head = appendInt(appendInt(head, 0), len(ix.Data))
			size += len(ix.Data)
		}
	}
	head = appendInt(head, 0) // nothing redundant
	start := fixed + len(head)
	if start+size > maxContainer {
		return nil, errs.Unsupportedf("the file indexes of a data file would have %d bytes; more than %d cannot be addressed", start+size, maxContainer)
	}
	for _, e := range entries {
		copy(head[e.at:], appendInt(nil, start+e.start))
	}
	dst = appendCode(dst, keyInt64, containerMagic)
	dst = appendInt(dst, containerVersion)
	dst = appendInt(dst, start)
	dst = appendInt(dst, columns)
	dst = append(dst, head...)
	for i := range indexes {
		dst = append(dst, indexes[i].Data...)
	}
	return dst, nil
}
