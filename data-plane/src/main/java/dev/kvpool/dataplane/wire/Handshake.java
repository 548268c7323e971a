// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire;

import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import java.util.Locale;
import java.util.UUID;

/** Decides whether a Hello fits this master. Pure; the answer is a {@link Welcome} or a {@link Refused}. */
public final class Handshake {
    private static final int NAME_CHARS_MAX = 253;

    private Handshake() {}

    /** Who this master is. */
    public record Self(String name, UUID poolId, long incarnation, Versions versions) {}

    /**
     * The answer to a Hello. Which segment layouts a peer knows is no matter here, since masters read no segments: in a drained
     * upgrade nodes are beside each other that could not read each other's.
     *
     * @param active what the pool speaks, as far as it is known: it is spoken with whoever knows it, and nobody else is let in
     */
    public static HandshakeMessage.Answer answer(Hello hello, Self self, ActiveVersions active) {
        if (hello.magic() != HandshakeMessage.MAGIC) {
            return refused(self, RefusalCode.PROTOCOL, "the first frame does not begin with the magic of kvpool");
        }
        if (hello.role() != Role.NODE && hello.role() != Role.CLIENT) {
            return refused(self, RefusalCode.ROLE, "a master serves nodes and clients, not " + role(hello) + "s");
        }
        if (!isName(hello.name()) || hello.incarnation() == 0) {
            return refused(
                    self,
                    RefusalCode.PROTOCOL,
                    "a peer needs a printable name of 1 to " + NAME_CHARS_MAX
                            + " characters and an incarnation that is not 0");
        }
        int wire = spoken(hello.versions().wire(), self.versions().wire(), active.wire());
        if (wire == 0) {
            return refused(
                    self,
                    RefusalCode.WIRE_VERSION,
                    speaks(hello, self, hello.versions().wire(), self.versions().wire(), active.wire()));
        }
        if (!hello.poolId().equals(HandshakeMessage.ANY_POOL) && !hello.poolId().equals(self.poolId())) {
            return refused(
                    self,
                    RefusalCode.POOL_MISMATCH,
                    peer(hello) + " belongs to pool " + hello.poolId() + ", master " + self.name() + " to pool "
                            + self.poolId() + "; check the addresses it was given");
        }
        if (hello.expectedPeer() != 0 && hello.expectedPeer() != self.incarnation()) {
            return refused(
                    self,
                    RefusalCode.IDENTITY_MISMATCH,
                    "%s wants to reach incarnation %016x, master %s is %016x"
                            .formatted(peer(hello), hello.expectedPeer(), self.name(), self.incarnation()));
        }
        return new Welcome(Role.MASTER, self.poolId(), self.incarnation(), self.versions(), wire, self.name());
    }

    /** For what comes instead of a Hello. */
    public static Refused noHello(Self self, String what) {
        return refused(self, RefusalCode.PROTOCOL, "the first frame must be a Hello: " + what);
    }

    public static Refused refused(Self self, RefusalCode code, String message) {
        return new Refused(code, self.versions().wire(), message);
    }

    /** The active version if it is known and both know it, the highest they have in common if it is not, else 0. */
    private static int spoken(VersionRange one, VersionRange other, int active) {
        if (active == 0) {
            return highestCommon(one, other);
        }
        return one.contains(active) && other.contains(active) ? active : 0;
    }

    /** The highest version both know, or 0 when there is none. */
    static int highestCommon(VersionRange one, VersionRange other) {
        return Versions.common(one, other).orElse(0);
    }

    private static String speaks(Hello hello, Self self, VersionRange theirs, VersionRange ours, int active) {
        String both = "%s (kvpool %s) knows wire version %s, master %s (kvpool %s) knows %s"
                .formatted(
                        peer(hello),
                        hello.versions().product(),
                        theirs,
                        self.name(),
                        self.versions().product(),
                        ours);
        return active == 0
                ? both + "; upgrade the older one"
                : both + ", and the pool's active one is " + active + "; use a build that knows it";
    }

    private static String peer(Hello hello) {
        return role(hello) + " " + hello.name();
    }

    private static String role(Hello hello) {
        return hello.role().name().toLowerCase(Locale.ROOT);
    }

    /** Names are shown in logs and pages, where control characters could forge lines. */
    private static boolean isName(String name) {
        return !name.isEmpty()
                && name.length() <= NAME_CHARS_MAX
                && name.codePoints().noneMatch(Character::isISOControl);
    }
}
