// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

/** Where a {@link SegmentedLru} keeps what it knows of each object: its neighbours and one bit. */
public interface Links {
    /** No object has this number. */
    int NONE = 0;

    int before(int object);

    int after(int object);

    void setBefore(int object, int other);

    void setAfter(int object, int other);

    boolean isProtected(int object);

    void setProtected(int object, boolean to);
}
