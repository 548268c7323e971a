// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.version;

import dev.kvpool.nativelib.NativeVersions;
import dev.kvpool.nativelib.VersionRange;
import java.util.OptionalInt;

/**
 * The four version numbers of a build.
 *
 * @param product semantic version of the release
 * @param wire versions of the wire protocol it speaks
 * @param layout versions of segment files it reads
 * @param abi versions of the C ABI its library offers
 */
public record Versions(String product, VersionRange wire, VersionRange layout, VersionRange abi) {

    /** The product's own number, and the ranges that the native library tells. */
    public static Versions ofThisBuild() {
        NativeVersions library = NativeVersions.load();
        return new Versions(ProductVersion.text(), library.wire(), library.layout(), library.abi());
    }

    /** One line of JSON; other programs read it, so names and order stay. */
    public String json() {
        return "{\"product\":\"" + product + "\",\"wire\":" + json(wire) + ",\"layout\":" + json(layout) + ",\"abi\":"
                + json(abi) + "}";
    }

    public String text() {
        return "kvpool " + product + " (wire " + wire + ", segment layout " + layout + ", C ABI " + abi + ")";
    }

    /** The highest version both know; empty when there is none. */
    public static OptionalInt common(VersionRange one, VersionRange other) {
        int highest = Math.min(one.max(), other.max());
        return highest >= Math.max(one.min(), other.min()) ? OptionalInt.of(highest) : OptionalInt.empty();
    }

    private static String json(VersionRange range) {
        return "{\"min\":" + range.min() + ",\"max\":" + range.max() + "}";
    }
}
