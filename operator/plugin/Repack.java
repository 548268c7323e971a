// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Repack TO JAR...: copies jars into a folder as a program wants them that starts from a cache. Classes of Java 5 (picocli's) get the form of
 * Java 21's, since the cache takes none of before Java 6. Left out is the list by which Fabric8 loads each kind of object that Kubernetes has,
 * some thousand classes, to find a kind by its name: the plugin says which class it reads.
 */
class Repack {
    private static final Set<String> LEFT_OUT =
            Set.of("META-INF/services/io.fabric8.kubernetes.api.model.KubernetesResource");

    private static final int MAJOR_VERSION_AT = 7;
    private static final int JAVA_6 = 50;
    private static final LocalDateTime TIME = LocalDateTime.of(2020, 1, 1, 0, 0);

    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        for (String jar : Arrays.asList(arguments).subList(1, arguments.length)) {
            Path source = Path.of(jar);
            repack(source, folder.resolve(source.getFileName()));
        }
    }

    private static void repack(Path source, Path target) throws IOException {
        try (ZipFile from = new ZipFile(source.toFile());
                OutputStream file = Files.newOutputStream(target);
                ZipOutputStream to = new ZipOutputStream(file);
                URLClassLoader classes = new URLClassLoader(new URL[] {source.toUri().toURL()})) {
            ClassFile format = ClassFile.of(
                    ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
                    ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(classes)));
            // Some jars name a folder twice.
            Set<String> names = new HashSet<>(LEFT_OUT);
            for (ZipEntry entry : Collections.list(from.entries())) {
                if (!names.add(entry.getName())) {
                    continue;
                }
                ZipEntry copy = new ZipEntry(entry.getName());
                copy.setTimeLocal(TIME);
                to.putNextEntry(copy);
                try (InputStream in = from.getInputStream(entry)) {
                    byte[] bytes = in.readAllBytes();
                    boolean old = entry.getName().endsWith(".class") && bytes[MAJOR_VERSION_AT] < JAVA_6;
                    to.write(old ? renewed(format, bytes) : bytes);
                }
            }
        }
    }

    private static byte[] renewed(ClassFile format, byte[] bytes) {
        return format.transformClass(
                format.parse(bytes),
                ClassTransform.transformingMethodBodies(CodeTransform.ACCEPT_ALL)
                        .andThen(ClassTransform.endHandler(builder -> builder.withVersion(ClassFile.JAVA_21_VERSION, 0))));
    }
}
