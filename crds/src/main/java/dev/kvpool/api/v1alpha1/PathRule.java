// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

/** The CEL text that directories of nodes share: absolute, without a way up or a hidden name. */
final class PathRule {
    static final String FORMAT = "self.matches('^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$')";
    static final String MESSAGE =
            "path must begin with '/', and consist of names of letters, digits, '.', '_' and '-' that do not begin with '.'";

    private PathRule() {}
}
