// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.name;

/** What a tenant's client may do with the tenant's objects. */
public enum Access {
    /** Look up, ask for existence, read. */
    READ("ro"),
    /** Also put, replace and remove. */
    WRITE("rw");

    private final String word;

    Access(String word) {
        this.word = word;
    }

    /** As it stands in names. */
    public String word() {
        return word;
    }
}
