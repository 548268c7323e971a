// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.slab;

import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * A hash table through records of {@link Slabs}: each bucket holds the first of a chain, and one int of each record the next.
 * It grows by one bucket at a time (linear hashing), dividing the chain of one other, so no call ever moves more than a few
 * records however many there are. It shrinks only when three of four buckets are too many.
 */
public abstract class SplitTable {
    /** The walk, and the tour, through a table that is not there. */
    public static final Walk NOTHING = () -> Slabs.NONE;

    public static final Tour NO_TOUR = new Tour(null);

    private static final int PAGE_SHIFT = 13;
    private static final int PAGE = 1 << PAGE_SHIFT;
    private static final int BUCKETS_MIN = 16;
    private static final int BUCKETS_MAX = 1 << 30;
    private static final int MERGES_PER_REMOVAL = 4;

    private final Slabs slabs;
    private final int linkAt;
    private final int perBucket;
    private int[][] heads;
    private int buckets;
    private int size;
    private int changes;

    /** Tours under way: as long as there are any the table does not shrink, and no record comes to lie before them. */
    private int tours;

    /**
     * An empty one.
     *
     * @param linkAt where in a record this table may keep an int
     * @param perBucket records for which it keeps a bucket: 1 for tables that are asked all the time, more for less memory
     */
    protected SplitTable(Slabs slabs, int linkAt, int perBucket) {
        this.slabs = slabs;
        this.linkAt = linkAt;
        this.perBucket = perBucket;
        clear();
    }

    /** The hash of a record, the same for as long as it is in the table. */
    protected abstract int hashOf(int record);

    public int size() {
        return size;
    }

    /** Bytes of memory in buckets. */
    public long bytes() {
        long bytes = 0;
        for (int[] page : heads) {
            bytes += page == null ? 0 : (long) page.length * Integer.BYTES;
        }
        return bytes;
    }

    /** The first record that may have this hash, or {@link Slabs#NONE}; others follow by {@link #next}. */
    public final int first(int hash) {
        return head(bucketOf(hash));
    }

    public final int next(int record) {
        return slabs.getInt(record, linkAt);
    }

    /** Adds a record that is not in the table. */
    public final void add(int record) {
        int bucket = bucketOf(hashOf(record));
        slabs.setInt(record, linkAt, head(bucket));
        setHead(bucket, record);
        size++;
        changes++;
        if (size > (long) buckets * perBucket && buckets < BUCKETS_MAX) {
            split();
        }
    }

    /** Takes out a record; that it is in no such table is an {@link IllegalStateException}. */
    public final void remove(int record) {
        int bucket = bucketOf(hashOf(record));
        int present = head(bucket);
        if (present == record) {
            setHead(bucket, next(record));
        } else {
            while (present != Slabs.NONE && next(present) != record) {
                present = next(present);
            }
            if (present == Slabs.NONE) {
                throw new IllegalStateException("a record is missing from a table of the index");
            }
            slabs.setInt(present, linkAt, next(record));
        }
        size--;
        changes++;
        for (int i = 0;
                i < MERGES_PER_REMOVAL && tours == 0 && size < (long) buckets * perBucket / 4 && buckets > BUCKETS_MIN;
                i++) {
            merge();
        }
    }

    public final void clear() {
        heads = new int[][] {new int[BUCKETS_MIN]};
        buckets = BUCKETS_MIN;
        size = 0;
        changes++;
    }

    /** Every record, in no order; the table must not change meanwhile. */
    public final Walk walk() {
        return new Buckets();
    }

    /** A way through all records of a table. */
    public interface Walk {
        /** The next record, or {@link Slabs#NONE} after the last. */
        int next();
    }

    private final class Buckets implements Walk {
        private final int expectedChanges = changes;
        private int bucket = -1;
        private int record = Slabs.NONE;

        @Override
        public int next() {
            if (changes != expectedChanges) {
                throw new IllegalStateException("a table of the index changed while it was walked");
            }
            if (record != Slabs.NONE) {
                record = SplitTable.this.next(record);
            }
            while (record == Slabs.NONE && bucket + 1 < buckets) {
                bucket++;
                record = head(bucket);
            }
            return record;
        }
    }

    /** A way through the table in many parts. */
    public final Tour tour() {
        tours++;
        return new Tour(this);
    }

    /**
     * A way through a table in many parts, between which it may change. It comes by every record that is in the table all the
     * time, maybe more than once, and by others or not.
     */
    public static final class Tour {
        private final SplitTable table;
        private int bucket;
        private boolean ended;

        private Tour(SplitTable table) {
            this.table = table;
            this.ended = table == null;
        }

        /**
         * Goes on through about {@code visits} buckets and records.
         *
         * @param visitor may not change the table
         * @return how many there were
         */
        public int goOn(int visits, IntConsumer visitor) {
            int made = 0;
            while (made < visits && !ended) {
                made++;
                for (int record = table.head(bucket); record != Slabs.NONE; record = table.next(record)) {
                    visitor.accept(record);
                    made++;
                }
                toNext();
            }
            return made;
        }

        /**
         * Goes on past empty buckets alone, at most so many: the table may have many more of them than records.
         *
         * @return how many there were
         */
        public int skipEmpty(int most) {
            int skipped = 0;
            while (skipped < most && !ended && table.head(bucket) == Slabs.NONE) {
                skipped++;
                toNext();
            }
            return skipped;
        }

        private void toNext() {
            bucket++;
            if (bucket >= table.buckets) {
                end();
            }
        }

        public boolean isDone() {
            return ended;
        }

        /** To be called when it is not made to its end. */
        public void end() {
            if (!ended) {
                ended = true;
                table.tours--;
            }
        }
    }

    private int bucketOf(int hash) {
        int bucket = hash & ((Integer.highestOneBit(buckets - 1) << 1) - 1);
        return bucket < buckets ? bucket : bucket ^ Integer.highestOneBit(bucket);
    }

    private int head(int bucket) {
        return heads[bucket >>> PAGE_SHIFT][bucket & (PAGE - 1)];
    }

    private void setHead(int bucket, int record) {
        heads[bucket >>> PAGE_SHIFT][bucket & (PAGE - 1)] = record;
    }

    /** Adds a bucket and moves there what belongs there of the one it divides. */
    private void split() {
        int added = buckets;
        makeRoomFor(added);
        buckets++;
        int divided = added ^ Integer.highestOneBit(added);
        int mask = (Integer.highestOneBit(added) << 1) - 1;
        int stay = Slabs.NONE;
        int move = Slabs.NONE;
        int record = head(divided);
        while (record != Slabs.NONE) {
            int following = next(record);
            if ((hashOf(record) & mask) == added) {
                slabs.setInt(record, linkAt, move);
                move = record;
            } else {
                slabs.setInt(record, linkAt, stay);
                stay = record;
            }
            record = following;
        }
        setHead(divided, stay);
        setHead(added, move);
    }

    /** Gives the last bucket's chain back to the one it once divided. */
    private void merge() {
        int last = buckets - 1;
        int into = last ^ Integer.highestOneBit(last);
        int record = head(last);
        while (record != Slabs.NONE) {
            int following = next(record);
            slabs.setInt(record, linkAt, head(into));
            setHead(into, record);
            record = following;
        }
        setHead(last, Slabs.NONE);
        buckets--;
        if ((last & (PAGE - 1)) == 0) {
            heads[last >>> PAGE_SHIFT] = null;
        }
    }

    /** The first page grows with the table, so that a small one is small; each further page comes whole. */
    private void makeRoomFor(int bucket) {
        int page = bucket >>> PAGE_SHIFT;
        if (page == 0) {
            if (bucket == heads[0].length) {
                heads[0] = Arrays.copyOf(heads[0], bucket * 2);
            }
            return;
        }
        if (page == heads.length) {
            heads = Arrays.copyOf(heads, page * 2);
        }
        if (heads[page] == null) {
            heads[page] = new int[PAGE];
        }
    }
}
