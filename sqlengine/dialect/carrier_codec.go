package dialect

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Carrier is what a table reference says besides its name: a point of time
// travel and OPTIONS hints. It reaches the catalog as the asOf string of
// sql.VersionedDatabase.
//
// At most one of Version, Timestamp and AsOf is set. Version and Timestamp show
// the schema of the snapshot they name; options keep the latest schema.
type Carrier struct {
	Options   map[string]string `json:"options,omitempty"`   // /*+ OPTIONS('k'='v') */
	Version   string            `json:"version,omitempty"`   // VERSION AS OF, FOR VERSION AS OF: tag, snapshot id or watermark-N
	Timestamp string            `json:"timestamp,omitempty"` // TIMESTAMP AS OF, FOR SYSTEM_TIME AS OF: a time text or epoch seconds
	AsOf      string            `json:"asof,omitempty"`      // plain AS OF: a tag, a snapshot id or a time
	Change    bool              `json:"change,omitempty"`    // the table's rows are read to be changed
}

// carrierPrefix starts the asOf strings made by this package. No tag name and no
// time text starts with it.
const carrierPrefix = "\x01"

// maxCarrierBytes bounds the text DecodeCarrier accepts.
const maxCarrierBytes = 1 << 20

// Encode returns the asOf string of c.
func (c Carrier) Encode() string {
	b, err := json.Marshal(c)
	if err != nil { // strings and a map of strings always encode
		panic("dialect: encoding a carrier: " + err.Error())
	}
	return carrierPrefix + string(b)
}

// IsZero reports whether the carrier says nothing.
func (c Carrier) IsZero() bool {
	return len(c.Options) == 0 && c.Version == "" && c.Timestamp == "" && c.AsOf == "" && !c.Change
}

// DecodeCarrier reads an asOf string. ok is false for a string that is no
// carrier (an AS OF that came another way); err reports a damaged carrier.
func DecodeCarrier(asOf string) (c Carrier, ok bool, err error) {
	rest, ok := strings.CutPrefix(asOf, carrierPrefix)
	if !ok {
		return Carrier{}, false, nil
	}
	if len(rest) > maxCarrierBytes {
		return Carrier{}, true, fmt.Errorf("dialect: time travel carrier of %d bytes is longer than %d", len(rest), maxCarrierBytes)
	}
	if err := json.Unmarshal([]byte(rest), &c); err != nil {
		return Carrier{}, true, fmt.Errorf("dialect: damaged time travel carrier: %w", err)
	}
	points := 0
	for _, s := range [...]string{c.Version, c.Timestamp, c.AsOf} {
		if s != "" {
			points++
		}
	}
	if points > 1 {
		return Carrier{}, true, fmt.Errorf("dialect: time travel carrier names %d points", points)
	}
	return c, true, nil
}
