// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import java.io.IOException;

/** A certificate, key or bundle that cannot be used; the message names the file, the cause and how to fix it. */
public final class RefusedCertificateException extends IOException {
    public RefusedCertificateException(String message) {
        super(message);
    }

    public RefusedCertificateException(String message, Throwable cause) {
        super(message, cause);
    }
}
