// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipFile;

/**
 * Repack TO MAIN JAR...: makes one jar of many as a program wants it that starts from a cache. Java opens all jars to look for one provider of a
 * service, and several services are looked for in each process: opening 45 of them takes as long as a request. Of classes for several versions of
 * Java those for this one are kept. Classes of Java 5 (picocli's) get the form of Java 21's, since the cache takes none of before Java 6. Left out
 * is the list by which Fabric8 loads each kind of object that Kubernetes has, some thousand classes, to find a kind by its name: the plugin says
 * which class it reads.
 */
class Repack {
    private static final Set<String> LEFT_OUT =
            Set.of(JarFile.MANIFEST_NAME, "META-INF/services/io.fabric8.kubernetes.api.model.KubernetesResource");

    private static final String MODULE = "module-info.class";
    private static final String SERVICES = "META-INF/services/";
    /** Each jar has some of its own under the same names. */
    private static final String TERMS = "META-INF/[^/]*(LICEN[CS]E|NOTICE)[^/]*";

    private static final int MAJOR_VERSION_AT = 7;
    private static final int JAVA_6 = 50;
    private static final LocalDateTime TIME = LocalDateTime.of(2020, 1, 1, 0, 0);

    public static void main(String[] arguments) throws IOException {
        Map<String, byte[]> all = new LinkedHashMap<>();
        for (String jar : Arrays.asList(arguments).subList(2, arguments.length)) {
            add(Path.of(jar), all);
        }
        try (OutputStream file = Files.newOutputStream(Path.of(arguments[0]));
                JarOutputStream to = new JarOutputStream(file)) {
            write(to, JarFile.MANIFEST_NAME, "Manifest-Version: 1.0\r\nMain-Class: %s\r\n\r\n".formatted(arguments[1]).getBytes());
            for (Map.Entry<String, byte[]> entry : all.entrySet()) {
                write(to, entry.getKey(), entry.getValue());
            }
        }
    }

    private static void add(Path jar, Map<String, byte[]> all) throws IOException {
        try (JarFile from = new JarFile(jar.toFile(), true, ZipFile.OPEN_READ, Runtime.version());
                URLClassLoader classes = new URLClassLoader(new URL[] {jar.toUri().toURL()})) {
            ClassFile format = ClassFile.of(
                    ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
                    ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(classes)));
            List<JarEntry> entries = from.versionedStream()
                    .filter(entry -> !entry.isDirectory())
                    .filter(entry -> !LEFT_OUT.contains(entry.getName()) && !entry.getName().endsWith(MODULE))
                    .toList();
            for (JarEntry entry : entries) {
                byte[] bytes;
                try (InputStream in = from.getInputStream(entry)) {
                    bytes = in.readAllBytes();
                }
                String name = entry.getName();
                if (name.startsWith(SERVICES)) {
                    all.merge(name, bytes, Repack::lines);
                } else if (name.matches(TERMS)) {
                    String owner = jar.getFileName().toString().replaceFirst("[.]jar$", "");
                    all.put(name.replace("META-INF/", "META-INF/" + owner + "/"), bytes);
                } else {
                    boolean old = name.endsWith(".class") && bytes[MAJOR_VERSION_AT] < JAVA_6;
                    all.putIfAbsent(name, old ? renewed(format, bytes) : bytes);
                }
            }
        }
    }

    private static byte[] lines(byte[] some, byte[] more) {
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.writeBytes(some);
        both.write('\n');
        both.writeBytes(more);
        return both.toByteArray();
    }

    private static void write(JarOutputStream to, String name, byte[] bytes) throws IOException {
        JarEntry entry = new JarEntry(name);
        entry.setTimeLocal(TIME);
        to.putNextEntry(entry);
        to.write(bytes);
    }

    private static byte[] renewed(ClassFile format, byte[] bytes) {
        return format.transformClass(
                format.parse(bytes),
                ClassTransform.transformingMethodBodies(CodeTransform.ACCEPT_ALL)
                        .andThen(ClassTransform.endHandler(builder -> builder.withVersion(ClassFile.JAVA_21_VERSION, 0))));
    }
}
