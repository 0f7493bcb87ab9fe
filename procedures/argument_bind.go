package procedures

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/table"
)

// Arg is one argument of a call.
type Arg struct {
	// Name is that of the form name => value, "" for a positional argument.
	Name string
	// Value is the argument's text; nil = NULL.
	Value *string
}

// kind is the type of a parameter.
type kind uint8

const (
	text kind = iota
	integer
	boolean
)

var kindNames = [...]string{text: "STRING", integer: "BIGINT", boolean: "BOOLEAN"}

// parameter is one parameter of a procedure.
type parameter struct {
	name string
	kind kind
	// aliases are other names of it (Spark's, and older ones).
	aliases  []string
	optional bool
}

// params reads a list such as "table, tag, snapshot_id|snapshot BIGINT?".
func params(list string) []parameter {
	var out []parameter
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		var p parameter
		if item, p.optional = strings.CutSuffix(item, "?"); p.optional {
			item = strings.TrimSpace(item)
		}
		names, typ, _ := strings.Cut(item, " ")
		switch typ {
		case "BIGINT", "INT":
			p.kind = integer
		case "BOOLEAN":
			p.kind = boolean
		}
		all := strings.Split(names, "|")
		p.name, p.aliases = all[0], all[1:]
		out = append(out, p)
	}
	return out
}

// arguments are the bound arguments of a call.
type arguments struct {
	procedure string
	params    []parameter
	// values by parameter; nil = not given. rest are positional arguments beyond the parameters.
	values []*string
	rest   []string
}

// signature prints a procedure's parameters for messages.
func signature(name string, ps []parameter) string {
	parts := make([]string, len(ps))
	for i, p := range ps {
		parts[i] = p.name
		if p.kind != text {
			parts[i] += " " + kindNames[p.kind]
		}
		if p.optional {
			parts[i] += "?"
		}
	}
	return "sys." + name + "(" + strings.Join(parts, ", ") + ")"
}

// bind assigns the arguments to the parameters. An optional text argument that is
// empty counts as not given, as Flink's positional calls skip arguments so. With variadic set
// more positional arguments than parameters are kept in rest.
func bind(name string, ps []parameter, variadic bool, args []Arg) (*arguments, error) {
	a := &arguments{procedure: name, params: ps, values: make([]*string, len(ps))}
	sig := signature(name, ps)
	named := false
	for i, arg := range args {
		at := i
		if arg.Name != "" {
			named = true
			at = slices.IndexFunc(ps, func(p parameter) bool {
				return strings.EqualFold(p.name, arg.Name) || slices.ContainsFunc(p.aliases, func(n string) bool { return strings.EqualFold(n, arg.Name) })
			})
			if at < 0 {
				return nil, errs.Invalidf("procedure %s has no argument '%s'; it is called as %s", name, arg.Name, sig)
			}
		} else if named {
			return nil, errs.Invalidf("procedure %s: a positional argument cannot follow a named one; it is called as %s", name, sig)
		}
		if at >= len(ps) {
			if !variadic || arg.Value == nil {
				return nil, errs.Invalidf("procedure %s has %d arguments, %d were given; it is called as %s", name, len(ps), len(args), sig)
			}
			a.rest = append(a.rest, *arg.Value)
			continue
		}
		if arg.Name != "" && a.values[at] != nil {
			return nil, errs.Invalidf("procedure %s: the argument '%s' is given twice", name, ps[at].name)
		}
		v := arg.Value
		if v != nil && *v == "" && ps[at].optional {
			v = nil
		}
		a.values[at] = v
	}
	for i, p := range ps {
		if a.values[i] == nil && !p.optional {
			return nil, errs.Invalidf("procedure %s: the argument '%s' is missing; it is called as %s", name, p.name, sig)
		}
	}
	return a, nil
}

func (a *arguments) at(name string) *string {
	for i, p := range a.params {
		if p.name == name {
			return a.values[i]
		}
	}
	panic("procedures: " + a.procedure + " has no parameter " + name)
}

// has reports whether an argument was given.
func (a *arguments) has(name string) bool { return a.at(name) != nil }

// text returns an argument, "" where it was not given.
func (a *arguments) text(name string) string {
	if v := a.at(name); v != nil {
		return *v
	}
	return ""
}

// integer returns an argument as a number, nil where it was not given.
func (a *arguments) integer(name string) (*int64, error) {
	v := a.at(name)
	if v == nil {
		return nil, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(*v), 10, 64)
	if err != nil {
		return nil, errs.Invalidf("procedure %s: the argument '%s' is a BIGINT, '%s' is none", a.procedure, name, *v)
	}
	return &n, nil
}

// boolean returns an argument as a truth value, false where it was not given.
func (a *arguments) boolean(name string) (bool, error) {
	v := a.at(name)
	if v == nil {
		return false, nil
	}
	switch strings.ToLower(strings.TrimSpace(*v)) {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, errs.Invalidf("procedure %s: the argument '%s' is a BOOLEAN, '%s' is none", a.procedure, name, *v)
}

// duration returns an argument as a duration such as '1 d', nil where it was not given.
func (a *arguments) duration(name string) (*time.Duration, error) {
	v := a.at(name)
	if v == nil {
		return nil, nil
	}
	d, err := schema.ParseDuration(*v)
	if err != nil {
		return nil, errs.Invalidf("procedure %s: the argument '%s': %w", a.procedure, name, err)
	}
	return &d, nil
}

// time returns an argument that is a date-time in the zone, or epoch milliseconds; nil where it was not given.
func (a *arguments) time(name string, zone *time.Location) (*time.Time, error) {
	v := a.at(name)
	if v == nil {
		return nil, nil
	}
	ms, err := table.ParseTimestamp(*v, zone)
	if err != nil {
		return nil, errs.Invalidf("procedure %s: the argument '%s': %w", a.procedure, name, err)
	}
	t := time.UnixMilli(ms)
	return &t, nil
}

// list splits a comma list, leaving blank items out.
func list(s string) []string {
	var out []string
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// options reads 'k=v,k2=v2'.
func (a *arguments) options(name string) (map[string]string, error) {
	out := map[string]string{}
	for _, item := range list(a.text(name)) {
		k, v, ok := strings.Cut(item, "=")
		if !ok {
			return nil, errs.Invalidf("procedure %s: the argument '%s' is a list 'key=value,…', '%s' has no '='", a.procedure, name, item)
		}
		out[strings.TrimSpace(k)] = strings.TrimSpace(v)
	}
	return out, nil
}

// partitionSpecs reads 'dt=a,hh=1;dt=b'.
func partitionSpecs(procedure, s string) ([]map[string]*string, error) {
	var out []map[string]*string
	for one := range strings.SplitSeq(s, ";") {
		spec := map[string]*string{}
		for _, item := range list(one) {
			k, v, ok := strings.Cut(item, "=")
			if !ok {
				return nil, errs.Invalidf("procedure %s: a partition is given as 'key=value,…', '%s' has no '='", procedure, item)
			}
			v = strings.TrimSpace(v)
			spec[strings.TrimSpace(k)] = &v
		}
		if len(spec) > 0 {
			out = append(out, spec)
		}
	}
	if len(out) == 0 {
		return nil, errs.Invalidf("procedure %s: no partition is given; partitions are given as 'dt=a;dt=b'", procedure)
	}
	return out, nil
}
