// SPDX-License-Identifier: Apache-2.0
/**
 * The API of kvpool on Kubernetes, group {@code kvpool.dev}, version {@code v1alpha1}. The YAML in {@code crds/yaml} is
 * made from these types, and nothing here has behaviour beyond filling in the defaults the schema states.
 */
package dev.kvpool.api.v1alpha1;
