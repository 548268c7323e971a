// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import java.util.Optional;

/** What a master wants of a round, one wish at a time. */
final class PlainWishes {
    static final Wishes NONE = raise(0);
    static final Wishes RELEASE = new Wishes(0, true, Authority.NONE, 0, Authority.NONE, 0, Optional.empty());

    private PlainWishes() {}

    static Wishes store(Authority leader, Register register) {
        Wishes.RegisterWish wish = new Wishes.RegisterWish(leader, register);
        return new Wishes(0, false, Authority.NONE, 0, Authority.NONE, 0, Optional.of(wish));
    }

    static Wishes raise(long above) {
        return new Wishes(above, false, Authority.NONE, 0, Authority.NONE, 0, Optional.empty());
    }

    static Wishes gone(Authority holder, long sinceMs) {
        return new Wishes(0, false, holder, sinceMs, Authority.NONE, 0, Optional.empty());
    }

    static Wishes silent(Authority holder, long atMs) {
        return new Wishes(0, false, Authority.NONE, 0, holder, atMs, Optional.empty());
    }
}
