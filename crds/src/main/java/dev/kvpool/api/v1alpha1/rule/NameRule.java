// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.rule;

/** The CEL text that names of Kubernetes objects share. */
public final class NameRule {
    public static final String FORMAT = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')";

    private NameRule() {}
}
