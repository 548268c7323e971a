# SPDX-License-Identifier: Apache-2.0
# Reads rights.txt and writes the enums Actor and Verb in Java to the directory `java`, in C++ to the file `cpp`.

function fail(why) {
    print FILENAME ":" FNR ": " why > "/dev/stderr"
    failed = 1
    exit 1
}
function camel(name,   parts, count, i, all) {
    count = split(tolower(name), parts, "_")
    all = ""
    for (i = 1; i <= count; i++) all = all toupper(substr(parts[i], 1, 1)) substr(parts[i], 2)
    return all
}

/^#/ || NF == 0 { next }
$1 == "actors" {
    actors = NF - 1
    for (i = 1; i <= actors; i++) actor[i] = toupper($(i + 1))
    next
}
/^ / {
    if (NF != 2 || verbs == 0 || ($1 " " $2) in routeOf) fail("not a route, or one twice: " $0)
    routeOf[$1 " " $2] = verbs
    route[++routes] = $1 " " $2
    next
}
{
    if (NF < actors + 2 || $1 in known) fail("not a verb with " actors " marks and what it is, or one twice: " $1)
    known[$1]
    verb[++verbs] = $1
    for (i = 1; i <= actors; i++) {
        mark = $(i + 1)
        if (mark != "+" && mark != "-") fail("neither + nor -: " mark)
        may[verbs, i] = mark == "+"
    }
    text = $(actors + 2)
    for (i = actors + 3; i <= NF; i++) text = text " " $i
    what[verbs] = text
}

END {
    if (failed) exit 1
    head = "// Generated from native/schema/rights.txt."
    out = java "/Actor.java"
    print head "\npackage dev.kvpool.wire;\n\n/** What asks. */\npublic enum Actor {" > out
    for (i = 1; i <= actors; i++) print "    " actor[i] (i < actors ? "," : "") > out
    print "}" > out
    close(out)

    out = java "/Verb.java"
    print head "\npackage dev.kvpool.wire;\n\nimport java.util.Map;\nimport java.util.Optional;\nimport java.util.Set;\n" > out
    print "/** What can be done with a pool. */\npublic enum Verb {" > out
    for (v = 1; v <= verbs; v++) {
        list = ""
        for (i = 1; i <= actors; i++) if (may[v, i]) list = list ", Actor." actor[i]
        print "    /** " what[v] ". */\n    " verb[v] "(\"" what[v] "\"" list ")" (v < verbs ? "," : ";") "\n" > out
    }
    print "    private static final Map<String, Verb> ROUTES = Map.ofEntries(" > out
    for (r = 1; r <= routes; r++)
        print "            Map.entry(\"" route[r] "\", " verb[routeOf[route[r]]] ")" (r < routes ? "," : ");") > out
    print "\n    private final String what;\n    private final Set<Actor> actors;\n" > out
    print "    Verb(String what, Actor... actors) {\n        this.what = what;\n        this.actors = Set.of(actors);\n    }\n" > out
    print "    /** Whether that may do it. */" > out
    print "    public boolean isOf(Actor actor) {\n        return actors.contains(actor);\n    }\n" > out
    print "    /** What it is, for people. */\n    public String what() {\n        return what;\n    }\n" > out
    print "    /** The verb of a route of HTTP; a route without one may be used by no peer. */" > out
    print "    public static Optional<Verb> ofRoute(String method, String path) {" > out
    print "        return Optional.ofNullable(ROUTES.get(method + \" \" + path));\n    }\n" > out
    print "    /** Every route that has a verb, as {@code METHOD /path}. */" > out
    print "    public static Set<String> routes() {\n        return ROUTES.keySet();\n    }\n}" > out
    close(out)

    print head "\n#pragma once\n\n#include <array>\n#include <cstdint>\n\nnamespace kvpool {\n" > cpp
    list = ""
    for (i = 1; i <= actors; i++) list = list (i > 1 ? ", " : "") camel(actor[i])
    print "/// What asks.\nenum class Actor : uint8_t { " list " };\n" > cpp
    print "/// What can be done with a pool.\nenum class Verb : uint8_t {" > cpp
    for (v = 1; v <= verbs; v++) print "  " camel(verb[v]) ",  // " what[v] > cpp
    print "};\ninline constexpr size_t kVerbs = " verbs ";\ninline constexpr size_t kActors = " actors ";\n" > cpp
    print "/// Whether an actor may do it, by verb and actor.\ninline constexpr std::array<std::array<bool, kActors>, kVerbs> kRights{{" > cpp
    for (v = 1; v <= verbs; v++) {
        list = ""
        for (i = 1; i <= actors; i++) list = list (i > 1 ? ", " : "") (may[v, i] ? "true" : "false")
        print "    {" list "},  // " verb[v] > cpp
    }
    print "}};\n\n}  // namespace kvpool" > cpp
}
