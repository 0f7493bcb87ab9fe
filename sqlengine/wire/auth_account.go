package wire

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"os"
	"strings"
)

// Names of the authentication plugins that the server speaks.
const (
	pluginNative = "mysql_native_password"
	pluginSha2   = "caching_sha2_password"
	pluginClear  = "mysql_clear_password"
)

// maxPasswordFile bounds the password file.
const maxPasswordFile = 64 << 10

// Account is what the server knows of a user who wants in.
type Account struct {
	// User and Host name the account (CURRENT_USER()).
	User, Host string
	// Empty is an account without a password: only an empty answer is right.
	Empty bool
	// Native is SHA1(SHA1(password)), nil where mysql_native_password cannot be used.
	Native []byte
	// Sha2 is SHA256(SHA256(password)), nil where it is not known: then
	// caching_sha2_password asks for the password itself and calls Check.
	Sha2 []byte
	// Check compares a password; needed where Sha2 is nil.
	Check func(password string) bool
}

// Authenticator finds accounts. It must be safe for concurrent use.
type Authenticator interface {
	// Account returns the account for user coming from remote; secure says that
	// the connection is TLS or a unix socket. ok is false where there is none: access is denied.
	Account(user string, remote net.Addr, secure bool) (a Account, ok bool)
}

// HostRule says where a user may come from.
type HostRule uint8

// The host rules.
const (
	// AnyHost admits every address.
	AnyHost HostRule = iota
	// LoopbackOnly admits loopback addresses and unix sockets.
	LoopbackOnly
)

// User is one user of Accounts.
type User struct {
	Name     string
	Password string
	Hosts    HostRule
}

// Accounts is a fixed list of users with their passwords.
type Accounts struct {
	byName map[string][]account
}

type account struct {
	Account
	hosts HostRule
}

// NewAccounts makes an Authenticator of a list. A name may occur once for each host rule; the first that admits counts.
func NewAccounts(users ...User) *Accounts {
	a := &Accounts{byName: make(map[string][]account)}
	for _, u := range users {
		host := "%"
		if u.Hosts == LoopbackOnly {
			host = "localhost"
		}
		acc := Account{User: u.Name, Host: host, Empty: u.Password == ""}
		if !acc.Empty {
			acc.Native = nativeHash(u.Password)
			acc.Sha2 = sha2Hash(u.Password)
		}
		a.byName[u.Name] = append(a.byName[u.Name], account{acc, u.Hosts})
	}
	return a
}

// Account implements Authenticator.
func (a *Accounts) Account(user string, remote net.Addr, _ bool) (Account, bool) {
	for _, acc := range a.byName[user] {
		if acc.hosts == AnyHost || isLoopback(remote) {
			return acc.Account, true
		}
	}
	return Account{}, false
}

// ReadPasswordFile reads a password from the first line of a file.
func ReadPasswordFile(path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("password file: %w", err)
	}
	if st.Size() > maxPasswordFile {
		return "", fmt.Errorf("password file %s: more than %d bytes", path, maxPasswordFile)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("password file: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" {
		return "", fmt.Errorf("password file %s: the first line is empty", path)
	}
	return line, nil
}

// isLoopback reports a loopback address or a unix socket.
func isLoopback(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

func nativeHash(password string) []byte {
	one := sha1.Sum([]byte(password))
	two := sha1.Sum(one[:])
	return two[:]
}

func sha2Hash(password string) []byte {
	one := sha256.Sum256([]byte(password))
	two := sha256.Sum256(one[:])
	return two[:]
}

// checkNative verifies a mysql_native_password answer: SHA1(pw) XOR SHA1(salt + hash).
func checkNative(answer, salt, hash []byte) bool {
	if len(answer) != sha1.Size || len(hash) != sha1.Size {
		return false
	}
	h := sha1.New()
	h.Write(salt)
	h.Write(hash)
	mask := h.Sum(nil)
	for i := range mask {
		mask[i] ^= answer[i]
	}
	got := sha1.Sum(mask)
	return subtle.ConstantTimeCompare(got[:], hash) == 1
}

// checkSha2 verifies a caching_sha2_password answer: SHA256(pw) XOR SHA256(hash + salt).
func checkSha2(answer, salt, hash []byte) bool {
	if len(answer) != sha256.Size || len(hash) != sha256.Size {
		return false
	}
	h := sha256.New()
	h.Write(hash)
	h.Write(salt)
	mask := h.Sum(nil)
	for i := range mask {
		mask[i] ^= answer[i]
	}
	got := sha256.Sum256(mask)
	return subtle.ConstantTimeCompare(got[:], hash) == 1
}
