// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.rule;

/** The CEL text that names with a domain share: those of extended resources and of annotations. */
public final class QualifiedNameRule {
    public static final String FORMAT =
            "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$')";

    private QualifiedNameRule() {}
}
