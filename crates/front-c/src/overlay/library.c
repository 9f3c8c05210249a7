/* Functions of the C library, for programs that call them without defining them. A call of `name` goes to
   `__pdnet_name`. What these functions do to memory, they do step by step, as a real library may. */
void *malloc(unsigned long);

unsigned long __pdnet_strlen(const char *s) {
  unsigned long n = 0;
  while (s[n]) n++;
  return n;
}

unsigned long __pdnet_strnlen(const char *s, unsigned long most) {
  unsigned long n = 0;
  while (n < most && s[n]) n++;
  return n;
}

void *__pdnet_memcpy(void *to, const void *from, unsigned long n) {
  unsigned char *a = to;
  const unsigned char *b = from;
  for (unsigned long i = 0; i < n; i++) a[i] = b[i];
  return to;
}

void *__pdnet_memmove(void *to, const void *from, unsigned long n) {
  unsigned char *a = to;
  const unsigned char *b = from;
  for (unsigned long i = 1; i < n; i++) {
    if (b + i == a) {
      while (n > 0) {
        n--;
        a[n] = b[n];
      }
      return to;
    }
  }
  for (unsigned long i = 0; i < n; i++) a[i] = b[i];
  return to;
}

void *__pdnet_memset(void *to, int c, unsigned long n) {
  unsigned char *a = to;
  for (unsigned long i = 0; i < n; i++) a[i] = (unsigned char)c;
  return to;
}

void __pdnet_bzero(void *to, unsigned long n) {
  unsigned char *a = to;
  for (unsigned long i = 0; i < n; i++) a[i] = 0;
}

int __pdnet_memcmp(const void *left, const void *right, unsigned long n) {
  const unsigned char *a = left;
  const unsigned char *b = right;
  for (unsigned long i = 0; i < n; i++) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

void *__pdnet_memchr(const void *s, int c, unsigned long n) {
  unsigned char *a = (unsigned char *)s;
  for (unsigned long i = 0; i < n; i++) {
    if (a[i] == (unsigned char)c) return a + i;
  }
  return 0;
}

char *__pdnet_strcpy(char *to, const char *from) {
  unsigned long i = 0;
  while ((to[i] = from[i])) i++;
  return to;
}

char *__pdnet_stpcpy(char *to, const char *from) {
  while ((*to = *from)) {
    to++;
    from++;
  }
  return to;
}

char *__pdnet_strncpy(char *to, const char *from, unsigned long n) {
  unsigned long i = 0;
  for (; i < n && from[i]; i++) to[i] = from[i];
  for (; i < n; i++) to[i] = 0;
  return to;
}

char *__pdnet_strcat(char *to, const char *from) {
  unsigned long i = 0, n = 0;
  while (to[n]) n++;
  while ((to[n + i] = from[i])) i++;
  return to;
}

char *__pdnet_strncat(char *to, const char *from, unsigned long most) {
  unsigned long i = 0, n = 0;
  while (to[n]) n++;
  for (; i < most && from[i]; i++) to[n + i] = from[i];
  to[n + i] = 0;
  return to;
}

int __pdnet_strcmp(const char *left, const char *right) {
  unsigned long i = 0;
  while (left[i] && left[i] == right[i]) i++;
  unsigned char a = (unsigned char)left[i], b = (unsigned char)right[i];
  return a == b ? 0 : a < b ? -1 : 1;
}

int __pdnet_strncmp(const char *left, const char *right, unsigned long n) {
  for (unsigned long i = 0; i < n; i++) {
    unsigned char a = (unsigned char)left[i], b = (unsigned char)right[i];
    if (a != b) return a < b ? -1 : 1;
    if (!a) return 0;
  }
  return 0;
}

char *__pdnet_strchr(const char *s, int c) {
  for (; ; s++) {
    if (*s == (char)c) return (char *)s;
    if (!*s) return 0;
  }
}

char *__pdnet_strrchr(const char *s, int c) {
  char *last = 0;
  for (; ; s++) {
    if (*s == (char)c) last = (char *)s;
    if (!*s) return last;
  }
}

char *__pdnet_strstr(const char *s, const char *part) {
  for (; ; s++) {
    unsigned long i = 0;
    while (part[i] && s[i] == part[i]) i++;
    if (!part[i]) return (char *)s;
    if (!*s) return 0;
  }
}

char *__pdnet_strdup(const char *s) {
  unsigned long n = 0;
  while (s[n]) n++;
  char *copy = malloc(n + 1);
  for (unsigned long i = 0; i <= n; i++) copy[i] = s[i];
  return copy;
}

long __pdnet_atol(const char *s) {
  long value = 0;
  int negative = 0;
  while (*s == ' ' || (*s >= '\t' && *s <= '\r')) s++;
  if (*s == '-' || *s == '+') {
    negative = *s == '-';
    s++;
  }
  for (; *s >= '0' && *s <= '9'; s++) value = value * 10 + (*s - '0');
  return negative ? -value : value;
}

int __pdnet_atoi(const char *s) { return (int)__pdnet_atol(s); }
int __pdnet_abs(int n) { return n < 0 ? -n : n; }
long __pdnet_labs(long n) { return n < 0 ? -n : n; }
long long __pdnet_llabs(long long n) { return n < 0 ? -n : n; }
double __pdnet_fabs(double x) { return x < 0 ? -x : x; }
int __pdnet_isdigit(int c) { return c >= '0' && c <= '9'; }
int __pdnet_isupper(int c) { return c >= 'A' && c <= 'Z'; }
int __pdnet_islower(int c) { return c >= 'a' && c <= 'z'; }
int __pdnet_isalpha(int c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
int __pdnet_isalnum(int c) { return __pdnet_isalpha(c) || __pdnet_isdigit(c); }
int __pdnet_isspace(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
int __pdnet_toupper(int c) { return __pdnet_islower(c) ? c - 'a' + 'A' : c; }
int __pdnet_tolower(int c) { return __pdnet_isupper(c) ? c - 'A' + 'a' : c; }
