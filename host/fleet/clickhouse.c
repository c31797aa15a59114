/* SPDX-License-Identifier: BSD-2-Clause */
/* See clickhouse.h. */
#include "host/fleet/clickhouse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kymo.h"

#define ALPHANUMERIC "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define CONFIG_MOST 16384
#define ANSWER_MOST 4096 /* of a server's refusal */

/* ---- the address ------------------------------------------------------------------- */

/* Takes the characters of a set. Returns what is after them, NULL: none, or too many. */
static const char *clickhouse_word_take(const char *from, const char *set, char *to, size_t room)
{
    size_t n = strspn(from, set);

    if (n == 0 || n >= room) {
        return NULL;
    }
    memcpy(to, from, n);
    to[n] = '\0';
    return from + n;
}

/* HOST or HOST:PORT, [ADDRESS] for IPv6. */
static const char *host_take(struct clickhouse *servers, const char *from)
{
    char *to = servers->hosts[servers->nhosts], port[6] = "8123";
    bool is_ip6 = *from == '[';

    from = clickhouse_word_take(from, is_ip6 ? "[]:.%" ALPHANUMERIC : ".-_" ALPHANUMERIC, to, 256);
    if (from == NULL || servers->nhosts == CLICKHOUSE_HOSTS - 1) {
        return NULL;
    }
    if (is_ip6 && strchr(to, ']') != NULL) {
        from -= strlen(strchr(to, ']')) - 1;
        strchr(to, ']')[1] = '\0';
    }
    if (*from == ':') {
        from = clickhouse_word_take(from + 1, "0123456789", port, sizeof(port));
    }
    strcat(to, ":");
    strcat(to, port);
    servers->nhosts++;
    return from;
}

/* Takes the password out of the environment, which the programs that are started inherit. NULL, or
 * what is wrong with it. */
static const char *clickhouse_take_password(struct clickhouse *servers)
{
    static const char name[] = "CLICKHOUSE_PASSWORD";
    const char *password = getenv(name);

    if (password == NULL) {
        return NULL;
    }
    if (strpbrk(password, "\r\n") != NULL) {
        return "$CLICKHOUSE_PASSWORD has more than one line, which no header of HTTP can have";
    }
    servers->password = strdup(password);
    unsetenv(name);
    return servers->password == NULL ? "out of memory" : NULL;
}

const char *clickhouse_url_shown(const char *url)
{
    const char *at = strrchr(url, '@');

    return at == NULL ? url : at + 1;
}

const char *clickhouse_parse(struct clickhouse *servers, const char *url)
{
    static const char scheme[] = "clickhouse://", cluster[] = "?cluster=";
    const char *at = url + strlen(scheme), *user = strchr(url, '@');

    *servers = (struct clickhouse){.url = url, .curl = {-1, -1, -1}};
    if (strncmp(url, scheme, strlen(scheme)) != 0) {
        return "it begins with clickhouse://";
    }
    if (user != NULL) {
        at = clickhouse_word_take(at, "_-." ALPHANUMERIC, servers->user, sizeof(servers->user));
        if (at != user) {
            return "a user is letters, digits and _-. before the @; a password comes from "
                   "$CLICKHOUSE_PASSWORD";
        }
        at++;
    }
    do {
        at = host_take(servers, at);
    } while (at != NULL && *at == ',' && *++at != '\0');
    if (at == NULL || *at != '/') {
        return "hosts are HOST[:PORT], with a comma between, then /DB";
    }
    at = clickhouse_word_take(at + 1, "_" ALPHANUMERIC, servers->database,
                              sizeof(servers->database));
    if (at == NULL) {
        return "a database is letters, digits and _ after the /";
    }
    if (strncmp(at, cluster, strlen(cluster)) == 0) {
        at = clickhouse_word_take(at + strlen(cluster), "_" ALPHANUMERIC, servers->cluster,
                                  sizeof(servers->cluster));
    }
    if (at == NULL || *at != '\0') {
        return "only ?cluster=NAME may follow the database";
    }
    if (servers->nhosts > 1 && servers->cluster[0] == '\0') {
        return "several servers are the shards of a cluster: ?cluster=NAME, as remote_servers in "
               "their config.xml calls it";
    }
    return clickhouse_take_password(servers);
}

/* ---- requests ---------------------------------------------------------------------- */

/* A text in quotes of curl's configuration. */
static void config_quote(FILE *config, const char *text)
{
    for (; *text != '\0'; text++) {
        fprintf(config, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
}

static void url_escape(FILE *config, const char *text)
{
    for (; *text != '\0'; text++) {
        fprintf(config, strchr("-._" ALPHANUMERIC, *text) != NULL ? "%c" : "%%%02X",
                (unsigned char)*text);
    }
}

static int curl_start(const struct clickhouse *servers, unsigned host, const char *scope,
                      const char *sql, int input, struct fleet_child *curl)
{
    /* No configuration of the user's; what is in this one no other user can see. */
    static char *const argv[] = {"curl", "-q", "-K", "/dev/fd/3", NULL};
    const char *password = servers->password;
    char config[CONFIG_MOST] = "";
    FILE *stream = fmemopen(config, sizeof(config) - 1, "w");
    bool fits;

    if (stream == NULL) {
        kymo_error("out of memory");
        return -1;
    }
    fprintf(stream,
            "silent\nshow-error\nconnect-timeout = 20\nrequest = POST\nupload-file = \"-\"\n"
            "header = \"Expect:\"\nwrite-out = \"\\n%%{http_code}\"\n");
    if (servers->user[0] != '\0' || password != NULL) {
        fprintf(stream, "header = \"X-ClickHouse-User: %s\"\n",
                servers->user[0] != '\0' ? servers->user : "default");
    }
    if (password != NULL) {
        fputs("header = \"X-ClickHouse-Key: ", stream);
        config_quote(stream, password);
        fputs("\"\n", stream);
    }
    fprintf(stream, "url = \"http://%s/?database=%s", servers->hosts[host], scope);
    if (sql != NULL) {
        fputs("&query=", stream);
        url_escape(stream, sql);
    }
    fputs("\"\n", stream);
    fits = !ferror(stream) && ftell(stream) < (long)sizeof(config) - 1;
    fclose(stream);
    if (!fits) {
        kymo_error("%s: a statement is too long", servers->url);
        return -1;
    }
    return fleet_child_start(curl, argv, input, config, true, "apt-get install curl");
}

/* The answer's last line is the status of HTTP. What a server says is one line with a stack or a
 * version after it. */
static int answer_check(const struct clickhouse *servers, unsigned host, int status, char *answer)
{
    char *code = strrchr(answer, '\n');
    char *rest;

    if (status == 0 && code != NULL && strcmp(code + 1, "200") == 0) {
        *code = '\0';
        return 0;
    }
    if (fleet_stopped != 0) {
        return -1;
    }
    if (code != NULL) {
        *code = '\0';
    }
    rest = strstr(answer, ", e.what()");
    if (rest != NULL) {
        *rest = '\0';
    }
    answer += strspn(answer, "\n");
    answer[strcspn(answer, "\r\n")] = '\0';
    if (answer[0] == '\0' && code != NULL) {
        kymo_error("%s: answers with status %.3s of HTTP; is it ClickHouse's HTTP port?",
                   servers->hosts[host], code + 1);
    } else {
        kymo_error("%s: %.1000s", servers->hosts[host], answer);
    }
    return -1;
}

int clickhouse_run(struct clickhouse *servers, unsigned host, const char *scope, const char *sql,
                   char *answer, size_t room)
{
    char own[ANSWER_MOST];
    struct fleet_child curl;
    const char *accepted = servers->accepted;
    bool large = answer != NULL && room >= sizeof(own);
    int status;

    servers->accepted = NULL;

    if (curl_start(servers, host, scope, NULL, -1, &curl) != 0) {
        return -1;
    }
    /* If curl has ended, its status says why. */
    if (write(curl.to, sql, strlen(sql)) < 0 && errno != EPIPE) {
        kymo_error("curl: %s", strerror(errno));
    }
    /* An error may be longer than the answer that the caller has room for. */
    status = fleet_child_end(&curl, large ? answer : own, large ? room : sizeof(own));
    if (accepted != NULL && strncmp(large ? answer : own, accepted, strlen(accepted)) == 0) {
        return 0;
    }
    if (answer_check(servers, host, status, large ? answer : own) != 0) {
        return -1;
    }
    if (!large && answer != NULL && snprintf(answer, room, "%s", own) >= (int)room) {
        kymo_error("%s: a longer answer than %zu bytes", servers->hosts[host], room - 1);
        return -1;
    }
    return 0;
}

int clickhouse_settle(struct clickhouse *servers)
{
    char answer[ANSWER_MOST];

    if (servers->curl.pid <= 0) {
        return 0;
    }
    fleet_child_watch(&servers->curl, "loading", servers->rows, servers->rows_bytes);
    close(servers->rows);
    int status = fleet_child_end(&servers->curl, answer, sizeof(answer));

    return answer_check(servers, servers->host, status, answer);
}

int clickhouse_insert(struct clickhouse *servers, unsigned host, const char *sql, const char *path)
{
    struct stat st;

    if (clickhouse_settle(servers) != 0) {
        return -1;
    }
    servers->rows = open(path, O_RDONLY | O_CLOEXEC);
    if (servers->rows < 0 || fstat(servers->rows, &st) != 0) {
        kymo_error("%s: %s", path, strerror(errno));
        if (servers->rows >= 0) {
            close(servers->rows);
        }
        return -1;
    }
    unlink(path); /* it is read once, and then gone */
    servers->rows_bytes = (uint64_t)st.st_size;
    servers->host = host;
    if (curl_start(servers, host, servers->database, sql, servers->rows, &servers->curl) != 0) {
        close(servers->rows);
        return -1;
    }
    return 0;
}
