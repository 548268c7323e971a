// SPDX-License-Identifier: Apache-2.0
/** What users may say of pods of any role, and of the masters. */
package dev.kvpool.api.v1alpha1.pod;
