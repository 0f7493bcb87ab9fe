package wire

import (
	"fmt"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// command runs one command. Its error ends the connection; a command's own
// failure is sent to the client and is no error here.
func (c *conn) command(p packet) (err error) {
	if len(p.data) == 0 {
		err := errmap.Wrap(errMalformed, 1835, "HY000", "Malformed communication packet.")
		c.answerError(err)
		return err
	}
	code, body := p.data[0], p.data[1:]
	defer func() {
		if r := recover(); r != nil {
			c.answerError(c.panicked(fmt.Sprintf("command %#x", code), r))
			err = nil
		}
	}()
	c.w.timeout = c.writeTimeout()
	switch code {
	case comQuit:
		return errQuit
	case comQuery:
		return c.commandQuery(body)
	case comPing:
		return c.answer(nil)
	case comInitDB:
		return c.answer(c.withOperation(func(ctx *sql.Context) error {
			err := c.useDatabase(ctx, c.decodeText(body))
			if err == nil {
				c.srv.cfg.Engine.ProcessList.ConnectionReady(c.session)
			}
			return err
		}), c.trackSchema)
	case comStatistics:
		c.locked(func() { c.w.packet([]byte(c.statistics())) })
		return nil
	case comFieldList:
		return c.commandFieldList(body)
	case comDebug:
		c.locked(func() { c.writeEOF(okPacket{}) })
		return nil
	case comProcessKill:
		q := payload{b: body}
		id := q.u32()
		if q.bad {
			return c.malformed()
		}
		return c.answer(c.kills(uint64(id), true))
	case comSetOption:
		return c.commandSetOption(body)
	case comResetConnection:
		return c.commandResetConnection()
	case comChangeUser:
		return c.commandChangeUser(body)
	case comStmtPrepare:
		return c.commandPrepare(c.decodeText(body))
	case comStmtExecute:
		return c.commandExecute(body)
	case comStmtSendLong:
		c.commandSendLongData(body)
		return nil
	case comStmtClose:
		q := payload{b: body}
		c.closeStatement(q.u32())
		return nil
	case comStmtReset:
		return c.commandStmtReset(body)
	case comStmtFetch:
		return c.commandFetch(body)
	}
	return c.answer(errmap.New(1047, "08S01", "Unknown command"))
}

// malformed answers a command whose packet cannot be read; the connection goes on.
func (c *conn) malformed() error {
	return c.answer(errmap.Wrap(errMalformed, 1835, "HY000", "Malformed communication packet."))
}

// answer sends OK, with what the trackers give, or the error.
func (c *conn) answer(err error, trackers ...func([]byte) []byte) error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if err != nil {
		c.writeError(err)
		return nil
	}
	ok := okPacket{}
	if c.session != nil {
		ok.warnings = c.session.WarningCount()
	}
	for _, t := range trackers {
		ok.track = t(ok.track)
	}
	c.writeOK(ok)
	return nil
}

// withOperation runs f as an operation that KILL can stop.
func (c *conn) withOperation(f func(ctx *sql.Context) error) (err error) {
	ctx := c.newContext(c.ctx, "")
	if err := sql.SessionCommandBegin(c.session); err != nil {
		return err
	}
	defer sql.SessionCommandEnd(c.session)
	if ctx, err = ctx.ProcessList.BeginOperation(ctx); err != nil {
		return err
	}
	defer ctx.ProcessList.EndOperation(ctx)
	return f(ctx)
}

// statistics is the answer of COM_STATISTICS, in mysqladmin's form.
func (c *conn) statistics() string {
	st := c.srv.Stats()
	up := int64(st.Uptime / time.Second)
	qps := 0.0
	if up > 0 {
		qps = float64(st.Statements) / float64(up)
	}
	return fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d  Slow queries: 0  Opens: 0  Flush tables: 0  Open tables: 0  Queries per second avg: %.3f",
		up, st.Open, st.Statements, qps)
}

func (c *conn) commandSetOption(body []byte) error {
	q := payload{b: body}
	switch option := q.u16(); {
	case q.bad:
		return c.malformed()
	case option == 0:
		c.caps |= capMultiStatements
	case option == 1:
		c.caps &^= capMultiStatements
	default:
		return c.answer(errmap.New(1047, "08S01", "Unknown command"))
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	// mysql_set_server_option() reads an EOF packet, an OK packet with DEPRECATE_EOF.
	if c.caps&capDeprecateEOF != 0 {
		c.writeOK(okPacket{})
	} else {
		c.writeEOF(okPacket{})
	}
	return nil
}

// commandResetConnection gives the connection a new session with the same database.
func (c *conn) commandResetConnection() error {
	db, user := c.session.GetCurrentDatabase(), c.session.Client().User
	c.dropSession()
	err := c.openSession(c.ctx, user, c.account, db)
	if err != nil && c.session != nil {
		// The database is gone; the connection is not.
		err = c.openSession(c.ctx, user, c.account, "")
	}
	if err != nil {
		c.answerError(err)
		return err
	}
	return c.answer(nil)
}

// dropSession ends the session and everything that belongs to it, the connection stays.
func (c *conn) dropSession() {
	for id := range c.stmts {
		c.closeStatement(id)
	}
	c.endSession()
}

func (c *conn) commandChangeUser(body []byte) error {
	u, err := parseChangeUser(body, c.caps)
	if err != nil {
		return c.malformed()
	}
	// A client that knows plugins is asked anew, as MySQL does; an old one used the salt of the handshake.
	salt, err := newSalt()
	if err != nil {
		return err
	}
	plugin := u.plugin
	if c.caps&capPluginAuth == 0 {
		plugin, salt = pluginNative, c.salt
	} else if plugin != pluginNative && plugin != pluginSha2 {
		plugin = pluginSha2
	}
	answer := u.auth
	if c.caps&capPluginAuth != 0 {
		msg := append([]byte{headerEOF}, plugin...)
		msg = append(append(append(msg, 0), salt...), 0)
		if answer, err = c.ask(msg); err != nil {
			return err
		}
	}
	acc, err := c.authenticate(credentials{user: u.user, plugin: plugin, answer: answer, salt: salt})
	if err != nil {
		c.answerError(err)
		return err
	}
	c.dropSession()
	if u.charset != 0 {
		c.charset = u.charset
	}
	c.attrs = u.attrs
	if err := c.openSession(c.ctx, u.user, acc, u.db); err != nil {
		c.answerError(err)
		return err
	}
	return c.answer(nil, c.trackSchema)
}
