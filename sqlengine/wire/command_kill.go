package wire

import (
	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// kills stops the running statement of a connection or, with whole, the connection.
func (c *conn) kills(id uint64, whole bool) error {
	unknown := errmap.New(1094, "HY000", "Unknown thread id: %d", id)
	if id > 1<<32-1 {
		return unknown
	}
	victim := c.srv.find(uint32(id))
	if victim == nil {
		return unknown
	}
	if !whole {
		victim.interrupt()
		return nil
	}
	if victim == c {
		c.mu.Lock()
		c.draining = true
		c.mu.Unlock()
		return errmap.New(1317, "70100", "Query execution was interrupted")
	}
	victim.kill()
	return nil
}

// interrupt cancels the statement that runs, if any.
func (c *conn) interrupt() {
	c.srv.cfg.Engine.ProcessList.Kill(c.id)
}

// killConnection is sql.Services.KillConnection, for KILL inside procedures.
func (s *Server) killConnection(id uint32) error {
	if c := s.find(id); c != nil {
		c.kill()
		return nil
	}
	return errmap.New(1094, "HY000", "Unknown thread id: %d", id)
}
