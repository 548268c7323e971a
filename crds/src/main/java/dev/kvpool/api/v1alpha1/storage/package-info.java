// SPDX-License-Identifier: Apache-2.0
/** Storage sets, their volumes, and what becomes of bytes when nodes go. */
package dev.kvpool.api.v1alpha1.storage;
