// SPDX-License-Identifier: Apache-2.0
// The part of Lane until transfers begin: the dial, the greeting, and the memory that both sides are to share.
#include <utility>

#include "client/core/lane.h"

namespace kvpool::client {

void Lane::dial(const PoolId& pool) {
  hello_ = wire::Hello{};
  hello_.self = context_.config.me;
  hello_.self.poolId = pool;
  hello_.expectedPeer = incarnation_;
  connection_ = context_.newConnection();
  stage_ = Stage::Dialing;
  since_ = context_.now;
  context_.act(Dial{connection_, transport_, address_});
}

void Lane::opened() {
  if (stage_ != Stage::Dialing) return;
  stage_ = Stage::Greeting;
  wire::Bytes frame;
  wire::appendHello(frame, hello_);
  context_.act(SendFrame{connection_, std::move(frame)});
}

void Lane::greeted(const Reply& reply) {
  if (const auto* refused = std::get_if<wire::Refused>(&reply)) {
    return fail(wire::refusalStatus(*refused, "node " + node_));
  }
  const auto* welcome = std::get_if<wire::Welcome>(&reply);
  if (welcome == nullptr) return fail(Status(KV_PROTOCOL, "the greeting was answered with something else"));
  Status fits = wire::judgeWelcome(*welcome, wire::Role::Node, hello_);
  if (!fits.ok()) return fail(fits);
  if (transport_ == Transport::Unix) {
    stage_ = Stage::Attaching;
    context_.act(SendStaging{connection_, shmAttach(context_.newRequest(), kStagingBytes), kStagingBytes});
    return;
  }
  if (context_.config.ucx && !ucxGivenUp_) {
    stage_ = Stage::Offering;
    since_ = context_.now;
    context_.act(OfferStaging{connection_, kStagingBytes});
    return;
  }
  stage_ = Stage::Ready;
  begin();
}

void Lane::stagingOffered(const Result<StagingOffer>& offer) {
  if (stage_ != Stage::Offering) return;
  if (!offer.ok()) return goWithoutUcx(offer.status().text());
  stage_ = Stage::Attaching;
  context_.act(SendFrame{connection_, ucxAttach(context_.newRequest(), offer.value())});
}

void Lane::attachedUcx(const Reply& reply) {
  const auto* attached = std::get_if<UcxAttached>(&reply);
  if (attached == nullptr) return fail(Status(KV_PROTOCOL, "the attachment was answered with something else"));
  if (attached->status != KV_OK) return goWithoutUcx("the node says: " + attached->reason);
  ucx_ = true;
  ++context_.statistics.ucxLanes;
  stage_ = Stage::Ready;
  begin();
}

/// By tcp alone, for the rest of this life of the node.
void Lane::goWithoutUcx(const std::string& why) {
  ucxGivenUp_ = true;
  ++context_.statistics.ucxRefusals;
  const std::string sentence = "node " + node_ + " is used by tcp, not by ucx: " + why;
  context_.explain(sentence);
  context_.act(Note{sentence});
  if (stage_ != Stage::Offering && stage_ != Stage::Attaching) return;
  stage_ = Stage::Ready;
  begin();
}

/// By tcp, where that is allowed, until the lane has rested. Told once in this life of the node: where its socket is
/// not mounted, every try ends alike.
void Lane::goWithoutShm() {
  if (why_.code() == KV_CLOSED) return;
  // Another life of the node answers at the path of the one that shared its memory.
  if (why_.code() == KV_IDENTITY_MISMATCH && shmWasUsed_) return;
  if (context_.config.tcp) restUntil_ = context_.now + kShmRestMs;
  ++context_.statistics.shmRefusals;
  if (std::exchange(shmLossTold_, true)) return;
  const std::string sentence = why_.text() + "; shared memory is not used" + (context_.config.tcp ? ", tcp is" : "");
  context_.explain(sentence);
  context_.act(Note{sentence});
}

void Lane::attached(const Reply& reply) {
  if (transport_ == Transport::Tcp) return attachedUcx(reply);
  const auto* attached = std::get_if<ShmAttached>(&reply);
  if (attached == nullptr) return fail(Status(KV_PROTOCOL, "the attachment was answered with something else"));
  if (attached->status != KV_OK) {
    return fail(Status(attached->status, std::string("no shared memory: ") + statusText(attached->status)));
  }
  stage_ = Stage::Mapping;
  context_.act(MapSegments{connection_, attached->segments});
}

void Lane::segmentsMapped(const Status& status) {
  if (stage_ != Stage::Mapping) return;
  if (!status.ok()) return fail(status);
  shmWasUsed_ = true;
  stage_ = Stage::Ready;
  begin();
}

/// What ends a connection can be UCX: it answers a probe and then fails with large pieces, or stops the node's answer.
/// One that ends with nothing under way says nothing about that.
void Lane::loseUcx(bool attaching, const Status& why) {
  const bool wasUsed = std::exchange(ucx_, false);
  if (transport_ != Transport::Tcp || why.code() == KV_CLOSED || ucxGivenUp_) return;
  if (attaching || (wasUsed && !moving_.empty() && ++ucxLosses_ >= kUcxLossesMax)) goWithoutUcx(why.text());
}

}  // namespace kvpool::client
