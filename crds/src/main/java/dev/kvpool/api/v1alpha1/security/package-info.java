// SPDX-License-Identifier: Apache-2.0
/** Who may use a pool, and whether what its processes say to each other is encrypted. */
package dev.kvpool.api.v1alpha1.security;
