package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/uptrace/bun"
)

// objects looks for objects that no row names, which a collection never finds: a restore
// that was killed leaves them, or a database that was set back to an earlier time. With
// repair they become unused ones.
func (c *checker) objects(ctx context.Context) error {
	if c.store.objects == nil {
		return nil
	}
	outside, err := c.store.provenObjects(ctx)
	if err != nil {
		return err
	}
	unnamed, n := 0, 0
	byAccount := map[string][]string{}
	check := func() error {
		for account, names := range byAccount {
			found, err := c.unnamed(ctx, account, names)
			if err != nil {
				return err
			}
			unnamed += found
		}
		n, byAccount = 0, map[string][]string{}
		return nil
	}
	err = outside.List(ctx, func(key string) error {
		parts := strings.Split(key, "/")
		if len(parts) != 4 || objectKey(parts[1], parts[3]) != key {
			return nil // the mark, or not ours
		}
		byAccount[parts[1]] = append(byAccount[parts[1]], parts[3])
		if n++; n < chunk {
			return nil
		}
		return check()
	})
	if err := errors.Join(err, check()); err != nil {
		return err
	}
	if unnamed > 0 {
		remedy := "nothing is lost; hub fsck --repair lets hub gc delete them after the grace period"
		if c.repair {
			remedy = "nothing is lost; hub gc deletes them after the grace period"
		}
		c.found(Problem{fmt.Errorf("%s: %d objects that the database does not name", outside, unnamed), remedy})
	}
	return nil
}

// unnamed counts those objects of account that no row names and that still exist.
func (c *checker) unnamed(ctx context.Context, account string, names []string) (n int, err error) {
	var known []string
	err = c.db.NewSelect().Model((*unusedObject)(nil)).Column("name").Where("account = ?", account).Where("name IN (?)", bun.List(names)).
		UnionAll(c.db.NewSelect().Model((*Pack)(nil)).Column("object").Where("account = ?", account).Where("object <> ''").Where("object IN (?)", bun.List(names))).
		Scan(ctx, &known)
	if err != nil {
		return 0, err
	}
	named := map[string]bool{}
	for _, name := range known {
		named[name] = true
	}
	var rows []string
	for _, name := range names {
		if named[name] {
			continue
		}
		// A collection may have removed it since it was listed.
		if _, err := c.store.objects.Get(ctx, objectKey(account, name), 0); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		rows = append(rows, name)
	}
	if !c.repair || len(rows) == 0 {
		return len(rows), nil
	}
	return len(rows), c.store.Write(ctx, func(tx *Tx) error {
		exists, err := tx.db.NewSelect().Model((*Account)(nil)).Where("name = ?", account).Exists(ctx)
		if err != nil || !exists {
			return err
		}
		return tx.unuseObjects(ctx, account, rows...)
	})
}
