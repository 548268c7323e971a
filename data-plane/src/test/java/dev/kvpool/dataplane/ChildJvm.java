// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The beginning of the command line of a process that has the classes of the test. */
public final class ChildJvm {
    /** Starts soon and takes little memory. */
    public static final List<String> SMALL = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m");

    /** What libkvpool and Netty need. */
    public static final List<String> NATIVE =
            List.of("--enable-native-access=ALL-UNNAMED", "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");

    private ChildJvm() {}

    /** A list that arguments of the main class can be added to. */
    @SafeVarargs
    public static List<String> command(Class<?> mainClass, List<String>... options) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        for (List<String> some : options) {
            command.addAll(some);
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass.getName()));
        return command;
    }
}
