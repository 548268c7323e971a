// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.rule;

/** The CEL texts that directories of nodes share: absolute, without a way up or a hidden name, and no other owner's. */
public final class PathRule {
    public static final String FORMAT = "self.matches('^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$')";
    public static final String MESSAGE =
            "path must begin with '/', and consist of names of letters, digits, '.', '_' and '-' that do not begin with '.'";

    /** What lay in a directory of another storage node would go with it. */
    public static final String OUTSIDE_POOLS = "!self.matches('/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}[.]')";

    public static final String OUTSIDE_POOLS_MESSAGE =
            "path must not lead into a directory that a pool has made for itself, which is named by the pool's id, '.' and"
                    + " the name of a set";

    private PathRule() {}
}
