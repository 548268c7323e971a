// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

/** The CEL text that names of Kubernetes objects share. */
final class NameRule {
    static final String FORMAT = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')";

    private NameRule() {}
}
