// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.status;

/** What the operator says about a resource. */
public enum ConditionType {
    READY("Ready"),
    AVAILABLE("Available"),
    PROGRESSING("Progressing"),
    SPEC_VALID("SpecValid"),
    SPEC_APPLIED("SpecApplied"),
    LEADER_ELECTED("LeaderElected"),
    STORAGE_READY("StorageReady"),
    VERSION_COMPATIBLE("VersionCompatible"),
    UPGRADE_BLOCKED("UpgradeBlocked"),
    DRAINING("Draining"),
    SECURED("Secured"),
    CERTIFICATES_VALID("CertificatesValid"),
    TENANTS_OVERCOMMITTED("TenantsOvercommitted"),
    ASCEND_RUNTIME_READY("AscendRuntimeReady");

    private final String text;

    ConditionType(String text) {
        this.text = text;
    }

    /** As written in the status. */
    public String text() {
        return text;
    }
}
