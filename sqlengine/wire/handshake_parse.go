package wire

// handshakeResponse is a client's answer to the greeting.
type handshakeResponse struct {
	caps      uint32
	maxPacket uint32
	charset   uint16
	user      string
	auth      []byte
	db        string
	plugin    string
	attrs     map[string]string
	// sslRequest is the short form that asks for TLS; only the first three fields are set.
	sslRequest bool
}

// sslRequestLen is the length of an SSLRequest packet.
const sslRequestLen = 32

// parseHandshakeResponse reads a HandshakeResponse41 or SSLRequest. offered
// is what the greeting offered: capabilities that were not offered are
// dropped, because clients exist that claim them all the same.
func parseHandshakeResponse(data []byte, offered uint32) (handshakeResponse, error) {
	var r handshakeResponse
	p := payload{b: data}
	r.caps = p.u32()
	r.maxPacket = p.u32()
	r.charset = uint16(p.u8())
	p.take(23)
	if p.bad || r.caps&capProtocol41 == 0 {
		return r, errMalformed
	}
	r.caps &= offered
	if len(data) == sslRequestLen && r.caps&capSSL != 0 {
		r.sslRequest = true
		return r, nil
	}
	r.user = p.nulString()
	switch {
	case r.caps&capPluginAuthLenenc != 0:
		r.auth = p.lenencBytes()
	case r.caps&capSecureConnection != 0:
		r.auth = p.take(int(p.u8()))
	default:
		r.auth = []byte(p.nulStringOrRest())
	}
	// Clients cut the packet short when the rest is empty: mysql_real_connect()
	// of old libraries leaves out the zero byte of an empty database.
	if r.caps&capConnectWithDB != 0 && len(p.b) > 0 {
		r.db = p.nulStringOrRest()
	}
	if r.caps&capPluginAuth != 0 && len(p.b) > 0 {
		r.plugin = p.nulStringOrRest()
	}
	if r.caps&capConnectAttrs != 0 && len(p.b) > 0 {
		r.attrs = parseAttrs(&p)
	}
	if p.bad {
		return r, errMalformed
	}
	return r, nil
}

// parseAttrs reads connection attributes.
func parseAttrs(p *payload) map[string]string {
	all := payload{b: p.lenencBytes()}
	if len(all.b) > maxConnectAttrs {
		p.fail()
		return nil
	}
	attrs := make(map[string]string)
	for len(all.b) > 0 {
		k := all.lenencBytes()
		v := all.lenencBytes()
		if all.bad {
			p.fail()
			return nil
		}
		attrs[string(k)] = string(v)
	}
	return attrs
}

// changeUser is a COM_CHANGE_USER command.
type changeUser struct {
	user, db, plugin string
	auth             []byte
	charset          uint16
	attrs            map[string]string
}

// parseChangeUser reads COM_CHANGE_USER without its command byte.
func parseChangeUser(data []byte, caps uint32) (changeUser, error) {
	var c changeUser
	p := payload{b: data}
	c.user = p.nulString()
	if caps&capSecureConnection != 0 {
		c.auth = p.take(int(p.u8()))
	} else {
		c.auth = []byte(p.nulString())
	}
	c.db = p.nulStringOrRest()
	if len(p.b) >= 2 {
		c.charset = p.u16()
	}
	if caps&capPluginAuth != 0 && len(p.b) > 0 {
		c.plugin = p.nulStringOrRest()
	}
	if caps&capConnectAttrs != 0 && len(p.b) > 0 {
		c.attrs = parseAttrs(&p)
	}
	if p.bad {
		return c, errMalformed
	}
	return c, nil
}
