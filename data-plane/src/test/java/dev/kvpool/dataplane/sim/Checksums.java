// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import java.util.zip.CRC32C;

/** CRC-32C of bytes in the Java heap. */
final class Checksums {
    private Checksums() {}

    static int crc32c(byte[]... parts) {
        CRC32C crc = new CRC32C();
        for (byte[] part : parts) {
            crc.update(part, 0, part.length);
        }
        return (int) crc.getValue();
    }
}
