// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.nativelib.TlsParameters;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where the certificate of this process is, and when it is used.
 *
 * @param directory with tls.crt, tls.key and ca.crt; empty where the mode is off, or the process signs its certificate itself
 * @param mode whether connections are encrypted
 */
public record TlsPlace(Optional<Path> directory, TlsMode mode) {
    public static final TlsPlace OFF = new TlsPlace(Optional.empty(), TlsMode.OFF);

    /** The directory to use; none where TLS is off, also when one was named. */
    public Optional<Path> used() {
        return mode == TlsMode.OFF ? Optional.empty() : directory;
    }

    /** The same for the native library. */
    public TlsParameters forLibrary() {
        return new TlsParameters(used().map(Path::toString).orElse(""), TlsParameters.Mode.valueOf(mode.name()));
    }
}
