package wire

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"errors"
	"fmt"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// saltLen is the length of the random challenge.
const saltLen = 20

// newSalt makes a challenge without zero bytes and '$', which clients would cut at.
func newSalt() ([]byte, error) {
	salt := make([]byte, saltLen)
	if _, err := rand.Read(salt); err != nil {
		return nil, fmt.Errorf("random challenge: %w", err)
	}
	for i := range salt {
		salt[i] = salt[i]&0x7f | 1
		if salt[i] == '$' {
			salt[i]++
		}
	}
	return salt, nil
}

// credentials are one login attempt.
type credentials struct {
	user   string
	plugin string
	answer []byte
	salt   []byte
	// given tells whether the client sent a password, for the message.
	given bool
}

// authenticate runs the plugins' exchange until the user is in or denied.
func (c *conn) authenticate(cr credentials) (Account, error) {
	acc, known := c.srv.cfg.Authenticator.Account(cr.user, c.remote, c.secure())
	cr.given = len(cr.answer) > 0
	if cr.plugin == "" {
		cr.plugin = pluginNative
	}
	want := cr.plugin
	switch cr.plugin {
	case pluginNative:
		if known && !acc.Empty && acc.Native == nil {
			want = pluginSha2
		}
	case pluginSha2:
		if known && !acc.Empty && acc.Sha2 == nil && acc.Check == nil {
			want = pluginNative
		}
	default:
		want = pluginSha2
	}
	if want != cr.plugin {
		if c.caps&capPluginAuth == 0 {
			return acc, c.denied(cr)
		}
		var err error
		if cr.salt, err = newSalt(); err != nil {
			return acc, err
		}
		msg := append([]byte{headerEOF}, want...)
		msg = append(msg, 0)
		msg = append(msg, cr.salt...)
		msg = append(msg, 0)
		if cr.answer, err = c.ask(msg); err != nil {
			return acc, err
		}
		cr.plugin = want
		cr.given = len(cr.answer) > 0
	}
	if cr.plugin == pluginSha2 && len(cr.answer) == 1 && cr.answer[0] == 0 {
		// An empty password is a lone zero byte in this plugin.
		cr.answer, cr.given = nil, false
	}
	if !known {
		return acc, c.denied(cr)
	}
	if acc.Empty {
		if len(cr.answer) > 0 {
			return acc, c.denied(cr)
		}
		return acc, nil
	}
	if len(cr.answer) == 0 {
		return acc, c.denied(cr)
	}
	if cr.plugin == pluginNative {
		if !checkNative(cr.answer, cr.salt, acc.Native) {
			return acc, c.denied(cr)
		}
		return acc, nil
	}
	return acc, c.authenticateSha2(acc, cr)
}

// authenticateSha2 is caching_sha2_password: the fast way where the double
// hash is known, else the password through TLS, a unix socket or RSA.
func (c *conn) authenticateSha2(acc Account, cr credentials) error {
	hash := acc.Sha2
	cacheKey := acc.User + "\x00" + acc.Host
	if hash == nil {
		if h, ok := c.srv.sha2Cache.Load(cacheKey); ok {
			hash = h.([]byte)
		}
	}
	if hash != nil && checkSha2(cr.answer, cr.salt, hash) {
		return c.send([]byte{headerAuthMore, 0x03})
	}
	if acc.Sha2 != nil || acc.Check == nil {
		return c.denied(cr)
	}
	reply, err := c.ask([]byte{headerAuthMore, 0x04})
	if err != nil {
		return err
	}
	var password string
	if c.secure() {
		if len(reply) == 0 || reply[len(reply)-1] != 0 {
			return c.denied(cr)
		}
		password = string(reply[:len(reply)-1])
	} else {
		key, pub, err := c.srv.rsa.get()
		if err != nil {
			return fmt.Errorf("password exchange key: %w", err)
		}
		if len(reply) == 1 && reply[0] == 0x02 {
			if reply, err = c.ask(append([]byte{headerAuthMore}, pub...)); err != nil {
				return err
			}
		}
		plain, err := rsa.DecryptOAEP(sha1.New(), nil, key, reply, nil)
		if err != nil {
			return c.denied(cr)
		}
		for i := range plain {
			plain[i] ^= cr.salt[i%len(cr.salt)]
		}
		password = string(bytes.TrimSuffix(plain, []byte{0}))
	}
	if !acc.Check(password) {
		return c.denied(cr)
	}
	c.srv.sha2Cache.Store(cacheKey, sha2Hash(password))
	return nil
}

// errDenied marks an authentication failure, in the chain of denied's error.
var errDenied = errors.New("access denied")

// denied makes error 1045.
func (c *conn) denied(cr credentials) error {
	using := "NO"
	if cr.given {
		using = "YES"
	}
	return errmap.Wrap(errDenied, 1045, "28000", "Access denied for user '%s'@'%s' (using password: %s)", cr.user, c.host(), using)
}

// ask sends a packet of the authentication exchange and returns the client's.
func (c *conn) ask(msg []byte) ([]byte, error) {
	if err := c.send(msg); err != nil {
		return nil, err
	}
	p, err := c.nextPacket()
	return p.data, err
}

// send writes one packet at once.
func (c *conn) send(msg []byte) error {
	c.locked(func() { c.w.packet(msg) })
	return c.w.finish()
}
