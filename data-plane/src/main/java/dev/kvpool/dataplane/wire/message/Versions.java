// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

/** The version numbers two processes exchange before anything else. */
public record Versions(String product, VersionRange wire, VersionRange layout, VersionRange abi) {
    /** What this build speaks; it must agree with {@code kv_get_versions} of libkvpool. */
    public static final Versions OURS =
            new Versions("0.1.0", new VersionRange(1, 1), new VersionRange(1, 1), new VersionRange(1, 1));
}
