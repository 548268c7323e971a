// SPDX-License-Identifier: Apache-2.0
// The first frames of a connection: who is there, do the versions fit, is it the one that was meant. Pure functions for
// both sides: the dialer sends Hello and judges the Welcome, the other side judges the Hello.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/ids.h"
#include "base/status.h"
#include "wire/protocol.h"
#include "wire/sbe.h"

namespace kvpool::wire {

enum class Role : uint8_t { Master = 1, Node = 2, Client = 3, Engine = 4, Agent = 5 };
const char* roleName(Role role);

/// Numbers of RefusalCode in the schema.
enum class Refusal : uint16_t {
  Protocol = 1,
  WireVersion = 2,
  PoolMismatch = 3,
  IdentityMismatch = 4,
  LayoutVersion = 5,
  Limit = 6,
  WrongRole = 7,
  SetApart = 8,
};

/// What each side says about itself.
struct Identity {
  Role role = Role::Client;
  PoolId poolId;
  uint64_t incarnation = 0;
  VersionRange wire = kWireVersions;
  VersionRange layout = kLayoutVersions;
  VersionRange abi = kAbiVersions;
  std::string name;     // node id, master name, or client host name; at most kNameBytesMax bytes
  std::string product;  // product version
};

struct Hello {
  Identity self;
  uint64_t expectedPeer = 0;  // incarnation the dialer wants; 0: any
  uint64_t magic = kMagic;
};

struct Welcome {
  Identity self;
  uint16_t wireChosen = 0;
};

struct Refused {
  Refusal code = Refusal::Protocol;
  VersionRange wire = kWireVersions;
  std::string message;
};

void appendHello(Bytes& out, const Hello& hello);
void appendWelcome(Bytes& out, const Welcome& welcome);
void appendRefused(Bytes& out, const Refused& refused);
struct Heartbeat {
  uint64_t beat = 0;          ///< what the peer answers with; 0 when it need not answer
  ObjectId oldestGrant = {};  ///< of a leader to a node: its grants with lower ids are over; 0.0 of others
};

void appendHeartbeat(Bytes& out, const Heartbeat& heartbeat = {});
Heartbeat readHeartbeat(Body body);

/// These throw as everything in sbe.h does.
Hello readHello(Body body);
Welcome readWelcome(Body body);
Refused readRefused(Body body);

/// What the accepting side asks of a dialer.
struct Admission {
  Role role = Role::Client;    // the only role this endpoint serves
  bool anyPool = false;        // whether a dialer may leave the pool open
  bool sharesLayout = false;   // whether the dialer will read the segment file itself
  ActiveVersions active = {};  // what the pool speaks and writes, as far as it is known: the dialer must know it
};

/// The answer to a Hello.
std::variant<Welcome, Refused> judgeHello(const Hello& hello, const Identity& self, const Admission& admission);

/// Whether the dialer goes on after this Welcome. `expected` is the role it dialled, `sent` its Hello.
Status judgeWelcome(const Welcome& welcome, Role expected, const Hello& sent);

/// The status a refused dialer reports.
Status refusalStatus(const Refused& refused, const std::string& peer);

}  // namespace kvpool::wire
