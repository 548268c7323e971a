// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.function.BooleanSupplier;

/** Ends at a flush when its reader would not be admitted any more: a body that is written as it comes may outlast the roots of its reader's certificate. */
final class AdmittedStream extends FilterOutputStream {
    private final BooleanSupplier admitted;

    AdmittedStream(OutputStream out, BooleanSupplier admitted) {
        super(out);
        this.admitted = admitted;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
    }

    @Override
    public void flush() throws IOException {
        if (!admitted.getAsBoolean()) {
            throw new IOException("the certificate of who reads this leads to a root that is not trusted any more");
        }
        super.flush();
    }
}
