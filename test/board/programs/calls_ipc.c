/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of calls.h: messages, pulses, connections. */
#include "test/board/programs/calls.h"
#include "test/board/programs/check.h"
#include "test/board/programs/truth.h"

static const uint32_t sent[] = {0x11111111, 0x82222222, 0x33333333};
static const uint32_t written[] = {0xd1d1d1d1, 0xd2d2d2d2};
static const uint32_t replied[] = {0xaaaa0001, 0xaaaa0002};

/* What the server saw. */
static struct served {
    int chid, rcvid;
    struct _msg_info info, again;
    uint32_t message[3], read[2];
    long result[4]; /* of MsgInfo, MsgRead, MsgWrite, MsgReply */
} served;

static void *serve(void *unused)
{
    struct served *s = &served;

    s->rcvid = MsgReceive(s->chid, s->message, sizeof(s->message), &s->info);
    s->result[0] = MsgInfo(s->rcvid, &s->again);
    s->result[1] = MsgRead(s->rcvid, s->read, sizeof(s->read), 4);
    s->result[2] = MsgWrite(s->rcvid, written, sizeof(written), 4);
    s->result[3] = MsgReply(s->rcvid, 77, replied, sizeof(replied));
    return unused;
}

static void *refuse(void *unused)
{
    served.rcvid = MsgReceive(served.chid, served.message, sizeof(served.message), NULL);
    MsgError(served.rcvid, EIO);
    return unused;
}

static void tell_receive(const struct served *s)
{
    const struct _msg_info *i = &s->info;

    truth("fast:KER_EXIT:MSG_RECEIVEV/14 ret_val:%d rmsg0:0x%08x", s->rcvid, (unsigned)sent[0]);
    truth("wide:KER_EXIT:MSG_RECEIVEV/14 ret_val:%d rmsg0:0x%08x rmsg1:0x%08x rmsg2:0x%08x "
          "nd:0x%08x srcnd:0x%08x pid:%d tid:%d chid:%d scoid:0x%08x coid:0x%08x msglen:%d "
          "srcmsglen:%d dstmsglen:%d priority:%d flags:0x%08x reserved:%d",
          s->rcvid, (unsigned)sent[0], (unsigned)sent[1], (unsigned)sent[2], (unsigned)i->nd,
          (unsigned)i->srcnd, (int)i->pid, (int)i->tid, (int)i->chid, (unsigned)i->scoid,
          (unsigned)i->coid, (int)i->msglen, (int)i->srcmsglen, (int)i->dstmsglen, i->priority,
          (unsigned)i->flags, (int)i->reserved);
    EXPECT_EQ(i->msglen, sizeof(sent));
    EXPECT_EQ(i->pid, self_pid());
}

static void tell_server(const struct served *s)
{
    const struct _msg_info *i = &s->again;
    unsigned rcvid = (unsigned)s->rcvid;

    truth("KER_CALL:MSG_INFO/19 rcvid:0x%08x info:" TRUTH_P, rcvid, TRUTH_PTR(i));
    truth("fast:KER_EXIT:MSG_INFO/19 ret_val:%ld pid:%d", s->result[0], (int)i->pid);
    truth("wide:KER_EXIT:MSG_INFO/19 ret_val:%ld pid:%d tid:%d chid:%d scoid:0x%08x coid:0x%08x "
          "msglen:%d srcmsglen:%d dstmsglen:%d priority:%d flags:0x%08x reserved:%d nd:0x%08x "
          "srcnd:0x%08x",
          s->result[0], (int)i->pid, (int)i->tid, (int)i->chid, (unsigned)i->scoid,
          (unsigned)i->coid, (int)i->msglen, (int)i->srcmsglen, (int)i->dstmsglen, i->priority,
          (unsigned)i->flags, (int)i->reserved, (unsigned)i->nd, (unsigned)i->srcnd);
    truth("fast:KER_CALL:MSG_READV/16 rcvid:0x%08x offset:4", rcvid);
    truth("wide:KER_CALL:MSG_READV/16 rcvid:0x%08x rparts:-8 offset:4 flags:0x00000000", rcvid);
    truth("fast:KER_EXIT:MSG_READV/16 ret_val:8 rmsg0:0x%08x", (unsigned)sent[1]);
    truth("wide:KER_EXIT:MSG_READV/16 ret_val:8 rmsg0:0x%08x rmsg1:0x%08x rmsg2:0x00000000",
          (unsigned)sent[1], (unsigned)sent[2]);
    truth("fast:KER_CALL:MSG_WRITEV/17 rcvid:0x%08x offset:4", rcvid);
    truth("wide:KER_CALL:MSG_WRITEV/17 rcvid:0x%08x sparts:-8 offset:4 flags:0x00000000 "
          "msg0:0x%08x msg1:0x%08x msg2:0x00000000",
          rcvid, (unsigned)written[0], (unsigned)written[1]);
    truth("KER_EXIT:MSG_WRITEV/17 ret_val:8");
    truth("fast:KER_CALL:MSG_REPLYV/15 rcvid:0x%08x status:77", rcvid);
    truth("wide:KER_CALL:MSG_REPLYV/15 rcvid:0x%08x sparts:-8 status:77 msg0:0x%08x msg1:0x%08x "
          "msg2:0x00000000",
          rcvid, (unsigned)replied[0], (unsigned)replied[1]);
    truth("COMM :REPLY_MESSAGE tid:%d pid:%d", self_tid(), self_pid());
    truth("KER_EXIT:MSG_REPLYV/15 ret_val:0");
}

static void tell_send(int coid)
{
    truth("fast:KER_CALL:MSG_SENDV/11 coid:0x%08x msg0:0x%08x", (unsigned)coid, (unsigned)sent[0]);
    truth("wide:KER_CALL:MSG_SENDV/11 coid:0x%08x sparts:-12 rparts:-16 msg0:0x%08x msg1:0x%08x "
          "msg2:0x%08x",
          (unsigned)coid, (unsigned)sent[0], (unsigned)sent[1], (unsigned)sent[2]);
}

void calls_messages(void)
{
    struct link to = make_link(0);
    uint32_t answer[4] = {0};

    served = (struct served){.chid = to.chid};
    int tid = start_thread(serve, NULL, own_priority() + 1);
    truth_step();
    EXPECT_EQ(MsgSend(to.coid, sent, sizeof(sent), answer, sizeof(answer)), 77);
    join(tid);
    EXPECT_EQ(served.result[1], 8);
    EXPECT_EQ(memcmp(served.read, sent + 1, 8), 0);
    tell_send(to.coid);
    truth("COMM :SND_MESSAGE rcvid:0x%08x pid:%d", (unsigned)served.rcvid, self_pid());
    truth("COMM :REC_MESSAGE rcvid:0x%08x pid:%d", (unsigned)served.rcvid, self_pid());
    tell_receive(&served);
    tell_server(&served);
    truth("fast:KER_EXIT:MSG_SENDV/11 ret_val:77 rmsg0:0x%08x", (unsigned)replied[0]);
    truth("wide:KER_EXIT:MSG_SENDV/11 ret_val:77 rmsg0:0x%08x rmsg1:0x%08x rmsg2:0x%08x",
          (unsigned)replied[0], (unsigned)replied[1], (unsigned)written[1]);

    tid = start_thread(refuse, NULL, own_priority() + 1);
    truth_step();
    EXPECT_ERR(MsgSend(to.coid, sent, sizeof(sent), answer, sizeof(answer)), EIO);
    join(tid);
    tell_send(to.coid);
    truth("KER_CALL:MSG_ERROR/13 rcvid:0x%08x error:%d", (unsigned)served.rcvid, EIO);
    truth("COMM :MSG_ERROR tid:%d pid:%d", self_tid(), self_pid());
    truth("KER_EXIT:MSG_ERROR/13 ret_val:0");
    truth("KER_EXIT:MSG_SENDV/11 ret_val:-1, errno:" TRUTH_E, TRUTH_ERROR(EIO));
    drop_link(&to);
}

/* What a pulse's words are; there is nothing about its sender. */
static void tell_pulse(const char *name, const struct _pulse *pulse)
{
    uint32_t words[3];

    memcpy(words, pulse, sizeof(words));
    truth("fast:KER_EXIT:%s ret_val:0 rmsg0:0x%08x", name, (unsigned)words[0]);
    truth("wide:KER_EXIT:%s ret_val:0 rmsg0:0x%08x rmsg1:0x%08x rmsg2:0x%08x", name,
          (unsigned)words[0], (unsigned)words[1], (unsigned)words[2]);
}

void calls_pulses(void)
{
    struct link to = make_link(0);
    struct _pulse pulse = {0};
    struct _msg_info info;
    struct sigevent event;

    memset(&info, 0x55, sizeof(info));
    for (unsigned i = 0; i < 2; i++) {
        truth_step();
        EXPECT_EQ(MsgSendPulse(to.coid, 20, 7, -4660), 0);
        if (i == 0) {
            EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
        } else {
            EXPECT_EQ(MsgReceive(to.chid, &pulse, sizeof(pulse), &info), 0);
        }
        truth("fast:KER_CALL:MSG_SEND_PULSE/20 coid:0x%08x code:7", (unsigned)to.coid);
        truth("wide:KER_CALL:MSG_SEND_PULSE/20 coid:0x%08x priority:20 code:7 value:-4660",
              (unsigned)to.coid);
        truth("COMM :SND_PULSE scoid:0x%08x pid:%d", (unsigned)pulse.scoid, self_pid());
        truth("KER_EXIT:MSG_SEND_PULSE/20 ret_val:0");
        truth("KER_CALL:%s chid:%d rparts:%d", i ? "MSG_RECEIVEV/14" : "MSG_RECEIVEPULSEV/24",
              to.chid, -(int)sizeof(pulse));
        truth("COMM :REC_PULSE scoid:0x%08x pid:%d", (unsigned)pulse.scoid, self_pid());
        tell_pulse(i ? "MSG_RECEIVEV/14" : "MSG_RECEIVEPULSEV/24", &pulse);
    }
    SIGEV_PULSE_INIT(&event, to.coid, -1, 9, 0x8000cafe);
    truth_step();
    EXPECT_EQ(MsgDeliverEvent(0x2fffffff, &event), -1);
    truth("fast:KER_CALL:MSG_DELIVER_EVENT/21 rcvid:0x2fffffff sigev_notify:4");
    truth("wide:KER_CALL:MSG_DELIVER_EVENT/21 rcvid:0x2fffffff sigev_notify:4 sigev_coid:%d "
          "sigev_value:0x8000cafe sigev_code:9 sigev_priority:-1",
          to.coid);
    truth("KER_EXIT:MSG_DELIVER_EVENT/21 ret_val:-1, errno:" TRUTH_E, TRUTH_ERROR(errno));
    drop_link(&to);
}

void calls_connections(void)
{
    struct _server_info server = {0};
    struct _client_info client = {0};
    int chid = ChannelCreate(0);

    truth_step();
    int coid = ConnectAttach(0, self_pid(), chid, _NTO_SIDE_CHANNEL, _NTO_COF_CLOEXEC);
    ConnectServerInfo(0, coid, &server);
    ConnectClientInfo(server.scoid, &client, 0);
    int flags = ConnectFlags(0, coid, 1, 0);
    ConnectDetach(coid);
    truth("fast:KER_CALL:CONNECT_ATTACH/39 nd:0 pid:%d", self_pid());
    truth("wide:KER_CALL:CONNECT_ATTACH/39 nd:0 pid:%d chid:%d index:1073741824 flags:0x00000001",
          self_pid(), chid);
    truth("KER_EXIT:CONNECT_ATTACH/39 ret_val:%d", coid);
    truth("fast:KER_CALL:CONNECT_SERVER_INFO/41 pid:0 coid:0x%08x", (unsigned)coid);
    truth("wide:KER_CALL:CONNECT_SERVER_INFO/41 pid:0 coid:0x%08x info:" TRUTH_P, (unsigned)coid,
          TRUTH_PTR(&server));
    truth("fast:KER_EXIT:CONNECT_SERVER_INFO/41 ret_val:within:0:0 pid:%d", (int)server.pid);
    truth("wide:KER_EXIT:CONNECT_SERVER_INFO/41 ret_val:within:0:0 pid:%d chid:%d scoid:0x%08x "
          "flags:0x%08x",
          (int)server.pid, (int)server.chid, (unsigned)server.scoid, (unsigned)server.flags);
    truth("wide:KER_EXIT:CONNECT_CLIENT_INFO/42 ret_val:0 pid:%d ability:0x%08x flags:0x%08x",
          (int)client.pid, (unsigned)client.ability, (unsigned)client.flags);
    truth("fast:KER_CALL:CONNECT_FLAGS/43 coid:0x%08x bits:0x00000000", (unsigned)coid);
    truth("wide:KER_CALL:CONNECT_FLAGS/43 pid:0 coid:0x%08x mask:0x00000001 bits:0x00000000",
          (unsigned)coid);
    truth("KER_EXIT:CONNECT_FLAGS/43 ret_val:%d", flags);
    truth("KER_CALL:CONNECT_DETACH/40 coid:0x%08x", (unsigned)coid);
    EXPECT_EQ(client.pid, self_pid());
    EXPECT_EQ(server.chid, chid);
    ChannelDestroy(chid);
}
