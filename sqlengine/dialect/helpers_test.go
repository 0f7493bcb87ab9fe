package dialect

import "encoding/json"

// printed shows a statement with what its pointers lead to.
func printed(s Statement) string {
	b, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
