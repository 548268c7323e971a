// SPDX-License-Identifier: Apache-2.0
/** What several fields have to look like: patterns in CEL with the sentences that say them. */
package dev.kvpool.api.v1alpha1.rule;
