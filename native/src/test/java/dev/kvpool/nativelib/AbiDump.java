// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.TreeMap;

/** What the C compiler says about kvpool.h: the output of test/abi/abi_dump.c as NAME=NUMBER pairs. */
final class AbiDump {
    private AbiDump() {}

    static Map<String, Long> run() {
        try {
            Process process = new ProcessBuilder(System.getProperty("kvpool.abi-dump")).start();
            Map<String, Long> values = new TreeMap<>();
            process.inputReader().lines().forEach(line -> {
                String[] pair = line.split("=", 2);
                values.put(pair[0], Long.parseLong(pair[1]));
            });
            if (process.waitFor() != 0) {
                throw new IllegalStateException("abi_dump ended with status " + process.exitValue());
            }
            return values;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while abi_dump ran", e);
        }
    }
}
