// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.slab;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Blocks of 4 to {@value #BLOCK_BYTES_MAX} bytes in pages of one size each. A block is named by an int, and {@link #NONE} names
 * none. The pages are byte arrays on the heap: the collector never looks inside of one, and the limit of the heap covers
 * them. A block keeps what its last owner left in it; an owner writes every field it will read.
 *
 * <p>A page belongs to one block size as long as one of its blocks is in use. The worst that freeing can leave behind is
 * therefore one block in use on every page; a key-value load whose key lengths change slowly stays far from that.
 */
public final class Slabs {
    public static final int NONE = 0;
    public static final int BLOCK_BYTES_MAX = 8 << 10;

    /** Small enough to be an ordinary object for every collector, so that pages lie without gaps. */
    static final int PAGE_BYTES = 32 << 10;

    private static final int GRANULE_SHIFT = 2;
    private static final int PAGE_SHIFT = 13;
    private static final int GRANULES = PAGE_BYTES >> GRANULE_SHIFT;

    private static final int PAGES_NAMED = 1 << (Integer.SIZE - PAGE_SHIFT);

    /** All that an int can name: 16 GiB. */
    public static final long BYTES_NAMED = (long) PAGES_NAMED * PAGE_BYTES;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.nativeOrder());

    /** The first page stays unused: no block has the number {@link #NONE}. */
    private byte[][] pages = new byte[64][];

    private int pageCount = 1;
    private final int pagesMax;

    /** By page: blocks in use; granules handed out once; the first freed block + 1; neighbours with room of the same size. */
    private int[] used = new int[64];

    private int[] fresh = new int[64];
    private int[] freed = new int[64];
    private int[] next = new int[64];
    private int[] previous = new int[64];

    /** By block size in granules: the first page with room. */
    private final int[] withRoom = new int[(BLOCK_BYTES_MAX >> GRANULE_SHIFT) + 1];

    /** Empty pages without memory, linked by {@link #next}. */
    private int spare = NONE;

    private long bytes;
    private long liveBytes;

    /** With room for all that an int can name. */
    public Slabs() {
        this(BYTES_NAMED);
    }

    /** @param bytesMax what pages may take, if that is less than what an int can name */
    public Slabs(long bytesMax) {
        pagesMax = Math.clamp(bytesMax / PAGE_BYTES + 1, 2, PAGES_NAMED);
    }

    /** What all blocks may take together. */
    public long bytesMax() {
        return (long) (pagesMax - 1) * PAGE_BYTES;
    }

    /** Bytes of blocks in use. */
    public long liveBytes() {
        return liveBytes;
    }

    /** Whether there is room for one more block of this size. */
    public boolean hasRoom(int blockBytes) {
        return hasRoomInPage(blockBytes) || hasFreePage();
    }

    /** Whether there is room for one more block of any size. */
    public boolean hasFreePage() {
        return spare != NONE || pageCount < pagesMax;
    }

    /** Whether there is room for one more block of this size without another page. */
    public boolean hasRoomInPage(int blockBytes) {
        return withRoom[granules(blockBytes)] != NONE;
    }

    /** A block of at least so many bytes; an {@link IllegalStateException} when there is no room for it. */
    public int allocate(int blockBytes) {
        int size = granules(blockBytes);
        int page = withRoom[size];
        if (page == NONE) {
            page = newPage();
            link(page, size);
        }
        liveBytes += (long) size << GRANULE_SHIFT;
        used[page]++;
        int place;
        if (freed[page] != 0) {
            place = freed[page] - 1;
            freed[page] = (int) INT.get(pages[page], place << GRANULE_SHIFT);
        } else {
            place = fresh[page];
            fresh[page] += size;
        }
        if (isFull(page, size)) {
            unlink(page, size);
        }
        return (page << PAGE_SHIFT) | place;
    }

    /** Gives a block back, with the number of bytes it was asked for. */
    public void release(int block, int blockBytes) {
        int size = granules(blockBytes);
        liveBytes -= (long) size << GRANULE_SHIFT;
        int page = block >>> PAGE_SHIFT;
        int place = block & (GRANULES - 1);
        boolean wasFull = isFull(page, size);
        INT.set(pages[page], place << GRANULE_SHIFT, freed[page]);
        freed[page] = place + 1;
        used[page]--;
        if (wasFull) {
            link(page, size);
        }
        if (used[page] == 0) {
            unlink(page, size);
            dropPage(page);
        }
    }

    /** Bytes of memory in pages. */
    public long bytes() {
        return bytes;
    }

    // ---- what lies in a block, at a number of bytes from its start ------------------------------------------------

    public long getLong(int block, int at) {
        return (long) LONG.get(pages[block >>> PAGE_SHIFT], start(block) + at);
    }

    public void setLong(int block, int at, long value) {
        LONG.set(pages[block >>> PAGE_SHIFT], start(block) + at, value);
    }

    public int getInt(int block, int at) {
        return (int) INT.get(pages[block >>> PAGE_SHIFT], start(block) + at);
    }

    public void setInt(int block, int at, int value) {
        INT.set(pages[block >>> PAGE_SHIFT], start(block) + at, value);
    }

    /** An unsigned 16-bit number. */
    public int getShort(int block, int at) {
        return Short.toUnsignedInt((short) SHORT.get(pages[block >>> PAGE_SHIFT], start(block) + at));
    }

    public byte getByte(int block, int at) {
        return pages[block >>> PAGE_SHIFT][start(block) + at];
    }

    public void setShort(int block, int at, int value) {
        SHORT.set(pages[block >>> PAGE_SHIFT], start(block) + at, (short) value);
    }

    public void setBytes(int block, int at, byte[] value) {
        System.arraycopy(value, 0, pages[block >>> PAGE_SHIFT], start(block) + at, value.length);
    }

    public byte[] getBytes(int block, int at, int length) {
        int from = start(block) + at;
        return Arrays.copyOfRange(pages[block >>> PAGE_SHIFT], from, from + length);
    }

    public boolean hasBytes(int block, int at, byte[] expected) {
        return hasBytes(block, at, expected, expected.length);
    }

    /** Whether the first so many of the expected bytes are there. */
    public boolean hasBytes(int block, int at, byte[] expected, int length) {
        int from = start(block) + at;
        return Arrays.equals(pages[block >>> PAGE_SHIFT], from, from + length, expected, 0, length);
    }

    public boolean haveEqualBytes(int block, int other, int at, int length) {
        int from = start(block) + at;
        int otherFrom = start(other) + at;
        return Arrays.equals(
                pages[block >>> PAGE_SHIFT],
                from,
                from + length,
                pages[other >>> PAGE_SHIFT],
                otherFrom,
                otherFrom + length);
    }

    public int hash(KeyHash hash, int block, int at, int length) {
        return hash.of(pages[block >>> PAGE_SHIFT], start(block) + at, length);
    }

    /** The block that a part of a block would be; {@code at} is a multiple of 4. */
    public static int part(int block, int at) {
        return block + (at >> GRANULE_SHIFT);
    }

    private static int start(int block) {
        return (block & (GRANULES - 1)) << GRANULE_SHIFT;
    }

    // ---- pages ----------------------------------------------------------------------------------------------------

    private static int granules(int blockBytes) {
        if (blockBytes < 1 || blockBytes > BLOCK_BYTES_MAX) {
            throw new IllegalArgumentException("a block of " + blockBytes + " bytes");
        }
        return (blockBytes + (1 << GRANULE_SHIFT) - 1) >> GRANULE_SHIFT;
    }

    private boolean isFull(int page, int size) {
        return freed[page] == 0 && fresh[page] + size > GRANULES;
    }

    private int newPage() {
        int page = spare;
        if (page != NONE) {
            spare = next[page];
        } else {
            page = pageCount;
            if (page == pagesMax) {
                throw new IllegalStateException(
                        "a block was asked for that has no room among " + bytesMax() + " bytes");
            }
            if (page == pages.length) {
                lengthen();
            }
            pageCount++;
        }
        pages[page] = new byte[PAGE_BYTES];
        bytes += PAGE_BYTES;
        used[page] = 0;
        fresh[page] = 0;
        freed[page] = 0;
        return page;
    }

    private void dropPage(int page) {
        pages[page] = null;
        bytes -= PAGE_BYTES;
        next[page] = spare;
        spare = page;
    }

    private void lengthen() {
        int length = Math.min(PAGES_NAMED, pages.length * 2);
        pages = Arrays.copyOf(pages, length);
        used = Arrays.copyOf(used, length);
        fresh = Arrays.copyOf(fresh, length);
        freed = Arrays.copyOf(freed, length);
        next = Arrays.copyOf(next, length);
        previous = Arrays.copyOf(previous, length);
    }

    private void link(int page, int size) {
        int first = withRoom[size];
        next[page] = first;
        previous[page] = NONE;
        previous[first] = page;
        withRoom[size] = page;
    }

    private void unlink(int page, int size) {
        if (previous[page] == NONE) {
            withRoom[size] = next[page];
        } else {
            next[previous[page]] = next[page];
        }
        previous[next[page]] = previous[page];
    }
}
