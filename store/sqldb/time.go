package sqldb

import "time"

// Time is a moment in microseconds since 1970 in UTC; 0 means never.
type Time int64

// At returns the Time of t.
func At(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMicro())
}

// Time returns t as a time in UTC, the zero time for never.
func (t Time) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(t)).UTC()
}

// Add returns the time d later.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Microseconds()) }

// Now returns the time of PostgreSQL, on which all its hubs agree. An SQLite file has one hub: there it is the
// time of the process.
func (v View) Now() (at Time, err error) {
	if !v.IsPostgres() {
		return At(time.Now()), nil
	}
	err = v.One(Row(&at), "SELECT @now")
	return at, err
}

// Now returns the transaction's time, which is the same each time: on SQLite when f began, on PostgreSQL when Now
// was first called. If the query for it fails, the transaction cannot commit, so the error needs no handling.
func (tx *Tx) Now() Time {
	if tx.at == 0 {
		tx.at, _ = tx.View.Now()
	}
	return tx.at
}
