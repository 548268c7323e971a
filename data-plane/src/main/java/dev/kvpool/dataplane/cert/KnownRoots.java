// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cert;

/**
 * The roots that masters gave with the last certificate, which count beside the file of roots: a copy of a ConfigMap has only those of its day, and
 * masters give the next one long before they use it. A file that has changed since counts alone: a root may have been taken out because its key was
 * stolen. As the Python client has it.
 */
public final class KnownRoots {
    private String file = "";
    private String given = "";

    /** PEM of what counts with this file. */
    public synchronized String beside(String pem) {
        return pem.equals(file) ? pem + "\n" + given : pem;
    }

    /** A master gave these roots when the file was this one. */
    public synchronized void note(String pem, String roots) {
        file = pem;
        given = roots;
    }
}
