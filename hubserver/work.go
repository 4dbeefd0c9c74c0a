package hubserver

import "context"

// workBytes bounds the memory that requests take all together, beyond what they
// received, while they work on it. Those above it wait for their turn.
const workBytes = 512 << 20

// How much memory a byte takes at most while it is worked on: one of JSON that is
// read into a tree, one of a pack, and one of a bundle on its way into the database.
const (
	jsonCost   = 128
	packCost   = 4
	bundleCost = 6
)

// work calls f when there is room for what it costs, in bytes. f must not read
// from or write to the caller, who could hold the room for as long as he likes.
func (c *call) work(cost int64, f func() error) error { return c.s.work(c.ctx(), cost, f) }

func (s *Server) work(ctx context.Context, cost int64, f func() error) error {
	cost = min(cost, workBytes)
	if err := s.room.Acquire(ctx, cost); err != nil {
		return err
	}
	defer s.room.Release(cost)
	return f()
}
