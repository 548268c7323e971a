// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.lru;

/** Where a {@link UseOrder} keeps what it knows of each object: its neighbours, how often and when it was used. */
public interface Links {
    /** No object has this number. */
    int NONE = 0;

    int before(int object);

    int after(int object);

    void setBefore(int object, int other);

    void setAfter(int object, int other);

    /** How often it was used since it was put, from 0 to {@link UseOrder#USES_MAX}. */
    int uses(int object);

    /** When it was used last, by the clock of the {@link ReusePolicy}: the low 16 bits at least. */
    int usedAt(int object);

    void setUsed(int object, int uses, int at);
}
