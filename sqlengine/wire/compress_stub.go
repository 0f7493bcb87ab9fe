package wire

// startCompression is replaced below.
func (c *conn) startCompression() {}
