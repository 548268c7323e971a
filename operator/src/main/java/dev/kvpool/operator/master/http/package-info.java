// SPDX-License-Identifier: Apache-2.0
/** How masters are asked: their HTTP, whom they are trusted by, and the operator's tokens. Only those who ask know it; decisions take answers. */
package dev.kvpool.operator.master.http;
